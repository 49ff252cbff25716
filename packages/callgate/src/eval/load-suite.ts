import { dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CallgateError } from "@callgate/contract";
import { readSuite } from "@callgate/eval";
import type { EvalEnvironment, EvalSuite } from "@callgate/eval";
import { resolveOwnPackagesFor } from "../folder/own-packages.ts";
import { loadFault } from "../load-fault.ts";

const modules: ReadonlySet<string> = new Set([".ts", ".mts", ".js", ".mjs"]);

/**
 * Loads a suite: YAML or JSON with the module of its environment, or a module that exports `suite` (or a function of that
 * name that makes one), for suites that are made of data. The caller answers for trust: their code is run.
 *
 * Errors: `CallgateError` USAGE with file and place.
 */
export async function loadSuite(file: string): Promise<EvalSuite> {
  const path = resolve(file);
  resolveOwnPackagesFor(dirname(path));
  if (modules.has(extname(path))) {
    const { suite } = await loadModule(path);
    const made: unknown = typeof suite === "function" ? await (suite as () => unknown)() : suite;
    if (isSuite(made)) return made;
    throw new CallgateError("USAGE", `${file} exports no suite: export const suite = { name, environment, cases }, or a function of that name that returns one`);
  }
  const { environment: written, ...read } = await readSuite(path);
  const module = resolve(dirname(path), written);
  const { environment } = await loadModule(module);
  if (typeof environment !== "function") throw new CallgateError("USAGE", `${module} exports no environment: export const environment = defineEnvironment(...), from "callgate/eval"`);
  return { ...read, environment: environment as EvalEnvironment };
}

async function loadModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const { where, message } = await loadFault(path, cause);
    throw new CallgateError("USAGE", `${path}${where} cannot be loaded: ${message}`, { cause });
  }
}

function isSuite(value: unknown): value is EvalSuite {
  const { name, environment, cases } = (value ?? {}) as Partial<EvalSuite>;
  return typeof name === "string" && typeof environment === "function" && Array.isArray(cases);
}
