import type { JsonValue, ToolView } from "@callgate/contract";
import { namespaceTypes } from "../../catalog/types/tool-types.ts";
import { printTypeScript } from "../../catalog/types/print-typescript.ts";
import { unescapePointer } from "../../lib/json-pointer.ts";
import { schemaOfValues } from "../infer-schema.ts";
import type { Template } from "./chain-shape.ts";
import type { FoundChain } from "./find-chains.ts";

/** A chain as a program of TypeScript: one line for each call, and what the last one answered as its value. */
export interface DraftProgram {
  readonly text: string;
  /** Inputs of the chain that the program asks for; the others were always the same and stand in it. */
  readonly inputs: readonly { readonly name: string; readonly input: number }[];
}

/** Always the same so often: no input, but a part of the program. */
const minFixed = 3;

export function draftProgram({ shape, occurrences }: FoundChain, views: ReadonlyMap<string, ToolView>): DraftProgram {
  const fixed = new Map(shape.inputs.flatMap((_name, input) => {
    const seen = occurrences.map(({ values }) => JSON.stringify(values[input]));
    if (occurrences.some(({ sensitive }) => sensitive.includes(input))) return [];
    return seen.length >= minFixed && new Set(seen).size === 1 && seen[0] !== undefined ? [[input, seen[0]] as const] : [];
  }));
  const names = variableNames(shape.steps.map(({ tool }) => tool));
  const print = (template: Template): string => {
    switch (template.kind) {
      case "constant":
        return String(template.value);
      case "input":
        return fixed.get(template.input) ?? `inputs${member(shape.inputs[template.input] ?? "")}`;
      case "answer":
        return `${names[template.step] ?? ""}${template.path.split("/").slice(1).map((token) => member(unescapePointer(token))).join("")}`;
      case "list":
        return `[${template.items.map(print).join(", ")}]`;
      case "object":
        return template.properties.length === 0 ? "{}" : `{ ${template.properties.map(([key, value]) => `${keyText(key)}: ${print(value)}`).join(", ")} }`;
    }
  };
  const lines = shape.steps.map(({ tool, args }, step) => {
    const answers = occurrences.flatMap(({ steps }) => steps[step]?.result ?? []);
    const isRead = shape.steps.some((other) => readsOf(other.args).includes(step));
    const type = isRead && views.get(tool)?.spec.output === undefined ? `<${typeOf(answers)}>` : "";
    return `const ${names[step] ?? ""} = await tools.${tool}${type}(${print(args)});`;
  });
  return { text: `${[...lines, `return ${names.at(-1) ?? ""};`].join("\n")}\n`, inputs: shape.inputs.flatMap((name, input) => (fixed.has(input) ? [] : [{ name, input }])) };
}

function variableNames(tools: readonly string[]): readonly string[] {
  const names: string[] = [];
  for (const tool of tools) {
    const own = tool.slice(tool.indexOf(".") + 1);
    const count = names.filter((name) => name.replace(/_\d+$/, "") === own).length;
    // A word of the language, or what every program has, is no name of its own.
    names.push(count > 0 ? `${own}_${count + 1}` : /^(?:delete|new|return|await|import|export|default|in|of|do|if|for|while|class|function|switch|case|with|void|typeof|this|null|true|false|try|catch|throw|enum|super|var|let|const|yield|static|tools|inputs)$/.test(own) ? `${own}_1` : own);
  }
  return names;
}

function member(key: string): string {
  if (/^\d+$/.test(key)) return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

function readsOf(template: Template): readonly number[] {
  switch (template.kind) {
    case "answer":
      return [template.step];
    case "list":
      return template.items.flatMap(readsOf);
    case "object":
      return template.properties.flatMap(([, value]) => readsOf(value));
    case "input":
    case "constant":
      return [];
  }
}

/** The type of answers that were seen, for a tool that declares none. */
function typeOf(answers: readonly JsonValue[]): string {
  const spec = { name: "answer", description: "", input: {}, output: schemaOfValues(answers, { isOpen: true }), effect: "read", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1, examples: [], errors: [] } as const;
  const [types] = namespaceTypes([{ member: "answer", spec }]).tools;
  return types?.output === undefined ? "unknown" : printTypeScript(types.output);
}
