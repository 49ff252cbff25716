import type { Gate } from "@callgate/contract";
import { createSpecParser } from "@callgate/runtime/catalog";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import { createCallgateWith } from "../create-callgate.ts";
import type { CallgateOptions } from "../create-callgate.ts";
import { javaScriptCheckers } from "../javascript-check.ts";

/** Gates for many attempts of one process. */
export interface EvalGates extends AsyncDisposable {
  /** A gate of its own journal, in front of a compiler and an engine that all of them share. */
  open(options: CallgateOptions, stateFolder: string): Promise<Gate>;
}

/**
 * A compiler and an engine cost more to start than most attempts do with them, and keep nothing of a run. A gate that asks
 * for a sandbox or for Node's modules gets its own.
 */
export function createEvalGates(): EvalGates {
  const close = (): Promise<void> => Promise.resolve();
  const checkers = javaScriptCheckers({ isAllNode: false });
  const driver = createQuickJsDriver();
  const specParser = createSpecParser();
  return {
    async open(options, stateFolder) {
      const isPlain = options.sandbox === undefined && options.node === undefined;
      // An attempt ends with its process: what it did need not outlive a crash.
      const own = { journal: { path: ":memory:" }, ...options, stateFolder };
      if (!isPlain) return await createCallgateWith(own, { specParser });
      return await createCallgateWith({ ...own, drivers: [...(options.drivers ?? []), { ...driver, close }] }, { specParser, checkers: checkers.map((checker) => ({ ...checker, close })) });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...checkers, driver].map((part) => part.close()));
    },
  };
}
