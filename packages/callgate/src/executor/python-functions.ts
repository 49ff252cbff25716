import { CallgateError } from "@callgate/contract";
import type { Gate, RunResult } from "@callgate/contract";
import { diagnosticText, errorText } from "@callgate/runtime";

/** A module of functions in Python that blocks can import. */
export interface PythonFunctions {
  /** Text of the module: functions with types and docstrings, and the imports they need. */
  readonly source: string;
  /** What the module is called. Default `functions`. */
  readonly module?: string;
  /** Modules it needs beside the standard library. They must be there in the sandbox: nothing is installed at run time. */
  readonly packages?: readonly string[];
}

const identifier = /^[A-Za-z_]\w*$/;

/** Errors: `CallgateError` CONFIG_INVALID. */
export function moduleName({ module = "functions", packages = [] }: PythonFunctions): string {
  for (const name of [module, ...packages]) if (!identifier.test(name)) throw new CallgateError("CONFIG_INVALID", `functions: ${JSON.stringify(name)} is no name of a Python module`);
  if (module === "tools") throw new CallgateError("CONFIG_INVALID", "functions: the module cannot be called tools; that is where tools are imported from");
  return module;
}

/**
 * Loads the module once in the sandbox, and prints its functions for a prompt: signature and docstring.
 *
 * Errors: `CallgateError` CONFIG_INVALID when the check or the scanner refuses the module, a package is not there, or
 * loading it fails.
 */
export async function loadFunctions(gate: Gate, functions: PythonFunctions): Promise<string> {
  const name = moduleName(functions);
  const checked = await gate.check(functions.source, { language: "python" });
  if (checked.status === "rejected") throw broken(name, checked);
  for (const wanted of functions.packages ?? []) {
    const found = await gate.run(`import ${wanted}\n"there"\n`, { language: "python" });
    if (found.status !== "completed") throw broken(name, found, `its package ${wanted} cannot be imported, and nothing is installed at run time: add it to the image or environment of the sandbox. `);
  }
  const result = await gate.run(loader(name, functions.source), { language: "python", budgetTokens: 100_000 });
  if (result.status !== "completed" || result.value?.kind !== "whole" || typeof result.value.value !== "string") throw broken(name, result);
  if (result.value.value === "") throw new CallgateError("CONFIG_INVALID", `The functions module ${name} cannot be used: it defines no function`);
  return result.value.value;
}

/** JSON of well-formed text is a literal of Python as well. */
function loader(name: string, source: string): string {
  return `import ast
import ${name}

stubs = []
for node in ast.parse(${JSON.stringify(source.toWellFormed())}).body:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
        told = ast.get_docstring(node)
        node.decorator_list = []
        node.body = [ast.Expr(ast.Constant(part)) for part in ([told] if told else []) + [...]]
        stubs.append(ast.unparse(node))
"\\n\\n".join(stubs)
`;
}

function broken(name: string, { error, diagnostics }: RunResult, why = ""): CallgateError {
  const said = error === undefined ? diagnostics.filter(({ severity }) => severity === "error").map(diagnosticText).slice(0, 5).join("; ") : errorText(error);
  return new CallgateError("CONFIG_INVALID", `The functions module ${name} cannot be used: ${why}${said}`);
}
