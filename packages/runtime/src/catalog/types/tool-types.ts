import type { LearnedOutput, ToolSpec } from "@callgate/contract";
import { isRecord, own } from "../schema/json-schema.ts";
import { clip } from "./schema-doc.ts";
import { typeOfSchema } from "./schema-to-type.ts";
import { createTypeNames, pascal } from "./type-names.ts";
import type { NamedType, TypeNames } from "./type-names.ts";
import { openObject } from "./type-node.ts";
import type { TypeNode } from "./type-node.ts";

/** Longest description of a tool that goes into its declaration. */
const maxDescriptionChars = 1_500;

/** A tool to declare: its spec with schemas as the validator reads them, under the identifier programs use. */
export interface DeclaredTool {
  readonly member: string;
  readonly spec: ToolSpec;
  /** Where it declares no output: what it was seen to answer. Default: nothing is claimed. */
  readonly learned?: LearnedOutput | undefined;
}

/** A tool's types, ready for either printer. */
export interface ToolTypes {
  readonly member: string;
  readonly input: TypeNode;
  /** True when calling without an argument is fine. */
  readonly inputOptional: boolean;
  /** Undefined when the tool declares no output. */
  readonly output: TypeNode | undefined;
  /** What it was seen to answer, where it declares none. */
  readonly learned: TypeNode | undefined;
  /** `member.pages(input)` yields the property `page` of the output. */
  readonly paged: boolean;
  readonly doc: readonly string[];
}

/** The types of one namespace: its tools and the named types they share. */
export interface NamespaceTypes {
  readonly tools: readonly ToolTypes[];
  readonly named: readonly NamedType[];
  readonly names: TypeNames;
}

export function namespaceTypes(tools: readonly DeclaredTool[]): NamespaceTypes {
  const names = createTypeNames();
  const typed = tools.map((tool) => ({ tool, input: inputType(tool, names), output: outputType(tool, names), learned: learnedType(tool, names) }));
  const named = names.all();
  const byName = new Map(named.map(({ name, type }) => [name, type]));
  return {
    names,
    named,
    tools: typed.map(({ tool: { member, spec, learned: seen }, input, output, learned }) => ({
      member,
      input,
      inputOptional: acceptsEmpty(input, byName),
      output,
      learned,
      paged: spec.paged === true && output !== undefined,
      doc: [...toolDoc(spec), ...(learned === undefined || seen === undefined ? [] : [`@returns observed from ${seen.calls} ${seen.calls === 1 ? "call" : "calls"}, not declared: any field may be missing`])],
    })),
  };
}

function inputType({ member, spec }: DeclaredTool, names: TypeNames): TypeNode {
  const type = typeOfSchema(spec.input, { names, scope: `${pascal(member)}Input`, kinds: ["object"] });
  const open = type.kind === "object" && type.properties.length === 0 && type.indexes.every(({ key }) => key.kind === "any");
  // A tool whose list of parameters is empty, and that does not say that it takes others, takes none. Without any list it takes any.
  const unsaid = isRecord(spec.input) && ["additionalProperties", "patternProperties", "propertyNames"].every((key) => own(spec.input as Readonly<Record<string, unknown>>, key) === undefined);
  return open && unsaid && isRecord(spec.input) && spec.input["type"] === "object" && isRecord(spec.input["properties"]) ? { ...openObject, indexes: [], closed: true } : type;
}

function outputType({ member, spec }: DeclaredTool, names: TypeNames): TypeNode | undefined {
  return spec.output === undefined ? undefined : typeOfSchema(spec.output, { names, scope: `${pascal(member)}Output` });
}

function learnedType({ member, spec, learned }: DeclaredTool, names: TypeNames): TypeNode | undefined {
  if (spec.output !== undefined || learned === undefined) return undefined;
  const type = typeOfSchema(learned.schema, { names, scope: `${pascal(member)}Output` });
  return type.kind === "unknown" ? undefined : type;
}

/** True when `{}` is a value of the type, as far as the type says. */
function acceptsEmpty(type: TypeNode, byName: ReadonlyMap<string, TypeNode>, depth = 0): boolean {
  switch (type.kind) {
    case "unknown":
      return true;
    case "object":
      return type.properties.every(({ optional }) => optional);
    case "union":
      return type.members.some((member) => acceptsEmpty(member, byName, depth + 1));
    case "intersection":
      return type.members.every((member) => acceptsEmpty(member, byName, depth + 1));
    case "name": {
      const target = byName.get(type.name);
      return target !== undefined && depth < 100 && acceptsEmpty(target, byName, depth + 1);
    }
    case "never":
    case "null":
    case "boolean":
    case "integer":
    case "number":
    case "string":
    case "literal":
    case "array":
    case "tuple":
      return false;
  }
}

/** What a reader must know of a tool beside its types, as lines of documentation. */
function toolDoc(spec: ToolSpec): string[] {
  const lines = clip(spec.description === "" ? (spec.title ?? spec.name) : spec.description, maxDescriptionChars).split("\n");
  if (spec.whenToUse !== undefined) lines.push(...clip(`When to use: ${spec.whenToUse}`, maxDescriptionChars).split("\n"));
  if (spec.paged === true) lines.push("Gives one page, and in `next` the arguments of the next one; .pages(...) with the same arguments gives all pages, one after the other");
  lines.push(`@effect ${spec.effect}`);
  if (spec.deprecated !== undefined) lines.push(`@deprecated ${oneLine(spec.deprecated)}`);
  if (spec.secrets !== undefined) lines.push(`@secrets ${spec.secrets.map((name) => `"secret://${name}"`).join(", ")}: written as the whole of a text, the tool gets the value`);
  for (const error of spec.errors) lines.push(`@throws ${error.code}: ${oneLine(error.description)}${error.retryable === true ? " (retry can help)" : ""}`);
  const [example] = spec.examples;
  if (example !== undefined) lines.push(`@example ${oneLine(JSON.stringify(example.input))}`);
  return lines;
}

function oneLine(text: string): string {
  return clip(text.replace(/\s+/g, " "), 300);
}
