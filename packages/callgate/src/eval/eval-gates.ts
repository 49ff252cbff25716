import type { Checker, Gate } from "@callgate/contract";
import { createSpecParser } from "@callgate/runtime/catalog";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { createCallgateWith } from "../create-callgate.ts";
import type { CallgateOptions } from "../create-callgate.ts";
import { javaScriptCheckers } from "../javascript-check.ts";
import { pythonCheckers } from "../python-check.ts";

/** Gates for many attempts of one process. */
export interface EvalGates extends AsyncDisposable {
  /** A gate of its own journal, in front of a compiler and an engine that all of them share. */
  open(options: CallgateOptions, stateFolder: string): Promise<Gate>;
}

/**
 * Compilers and the engine cost more to start than most attempts do with them, and keep nothing of a run. A gate that has
 * TypeScript run elsewhere, or with Node's modules, gets its own; so does Python that imports from folders.
 */
export function createEvalGates(): EvalGates {
  const checkers = javaScriptCheckers({ isAllNode: false });
  const driver = createQuickJsDriver();
  const specParser = createSpecParser();
  const python = new Map<string, readonly Checker[]>();

  /** One for each set of modules: pyright is a process, and its start most of what a short program costs. */
  function sharedPython({ python: settings = {}, pythonFunctions }: CallgateOptions): readonly Checker[] | undefined {
    if (settings.folders !== undefined || pythonFunctions !== undefined) return undefined;
    const key = JSON.stringify(settings);
    const found = python.get(key) ?? pythonCheckers(settings);
    python.set(key, found);
    return found;
  }

  return {
    async open(options, stateFolder) {
      const { sandbox = {}, node } = options;
      const isEmbedded = node === undefined && sandbox.javascript === undefined && sandbox.launcher !== "deno";
      const pythonOnes = sharedPython(options);
      // An attempt ends with its process: what it did need not outlive a crash.
      const own = { journal: { path: ":memory:" }, ...options, stateFolder };
      const shared = { specParser, ...(pythonOnes === undefined ? {} : { pythonCheckers: pythonOnes.map(kept) }) };
      if (!isEmbedded) return await createCallgateWith(own, shared);
      return await createCallgateWith({ ...own, drivers: [...(options.drivers ?? []), kept(driver)] }, { ...shared, checkers: checkers.map(kept) });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...checkers, driver, ...[...python.values()].flat()].map((part) => part.close()));
    },
  };
}

/** A part that outlives the gate it is given to. */
function kept<Part extends { readonly close: () => Promise<void> }>(part: Part): Part {
  return { ...part, close: () => Promise.resolve() };
}
