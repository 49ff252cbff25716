import type { JsonObject, WorkflowManifest } from "@callgate/contract";
import { namespaceTypes } from "../catalog/types/tool-types.ts";
import { printTypeScript } from "../catalog/types/print-typescript.ts";

/**
 * The program of a workflow with its inputs, as it is checked, run and recorded. What gives it `inputs` stands on its first
 * line, so that lines are those of the file.
 */
export function composeProgram({ language, input, name }: Pick<WorkflowManifest, "language" | "input" | "name">, program: string, inputs: JsonObject): string {
  if (Object.keys(inputs).length === 0 && !/\binputs\b/.test(program)) return program;
  const text = JSON.stringify(JSON.stringify(inputs));
  // Nothing that has a block of its own may follow on the line.
  if (language === "python") return `import json; inputs = json.loads(${text});${beginsWithBlock(program) ? "\n" : " "}${program}`;
  const type = language === "javascript" ? "" : ` as ${inputType(name, input)}`;
  return `const inputs = JSON.parse(${text})${type}; ${program}`;
}

/** Whether the first line of a Python program is one that nothing can stand before. */
export function beginsWithBlock(program: string): boolean {
  return /^(?:(?:async\s+)?(?:def|for|with)|class|if|while|try|match)\b|^@/.test(program);
}

/** The inputs as TypeScript, in one line. */
function inputType(name: string, input: WorkflowManifest["input"]): string {
  const { tools, named } = namespaceTypes([{ member: name, spec: { name, description: "", input, effect: "read", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1, examples: [], errors: [] } }]);
  // A schema with references of its own has named types, which have no place in a line.
  const [tool] = tools;
  return tool === undefined || named.length > 0 ? "any" : printTypeScript(tool.input);
}
