import type { Effect, JsonSchema, Label, SourceProblem, Tool } from "@callgate/contract";
import { headerParams } from "./header-params.ts";
import type { HeaderParam } from "./header-params.ts";
import { firstString, isRecord } from "./is-record.ts";

/** Makes a listed tool callable: what its `handler` does. */
export type MakeHandler = (name: string) => Tool["handler"];

export interface ListingDefaults {
  readonly timeoutMs: number;
  readonly handler: MakeHandler;
  /** Whether arguments are sent as headers where a tool asks for it: over HTTP, since revision 2026-07-28. Default false. */
  readonly mirrorsHeaders?: boolean;
}

/** A tool as a server listed it. */
export interface ListedTool {
  readonly tool: Tool;
  /** Its arguments that are headers too. */
  readonly headers: readonly HeaderParam[];
}

export interface ParsedListing {
  readonly tools: readonly ListedTool[];
  readonly problems: readonly SourceProblem[];
}

/**
 * Turns what `tools/list` answered into tools. One malformed tool becomes a problem, the rest work; a name listed twice
 * keeps its first definition.
 */
export function parseListing(rawTools: readonly unknown[], defaults: ListingDefaults): ParsedListing {
  const tools = new Map<string, ListedTool>();
  const problems: SourceProblem[] = [];
  rawTools.forEach((raw, index) => {
    const parsed = parseTool(raw, index, defaults);
    if (parsed.kind === "problem") problems.push(parsed.problem);
    else if (tools.has(parsed.listed.tool.name)) problems.push({ tool: parsed.listed.tool.name, message: "The server lists this name twice; the first definition is used" });
    else tools.set(parsed.listed.tool.name, parsed.listed);
  });
  return { tools: [...tools.values()], problems };
}

type ParsedTool = { readonly kind: "tool"; readonly listed: ListedTool } | { readonly kind: "problem"; readonly problem: SourceProblem };

function parseTool(raw: unknown, index: number, defaults: ListingDefaults): ParsedTool {
  const problem = (message: string, tool?: string): ParsedTool => ({ kind: "problem", problem: { ...(tool === undefined ? {} : { tool }), message } });
  if (!isRecord(raw)) return problem(`Entry ${index} of the tool list is not an object; it was left out`);
  const { name } = raw;
  if (typeof name !== "string" || name === "") return problem(`Entry ${index} of the tool list has no name; it was left out`);
  const input = parseInputSchema(raw["inputSchema"]);
  if (typeof input === "string") return problem(`${input}; the tool was left out. The server's author must fix it`, name);
  const headers = defaults.mirrorsHeaders === true ? headerParams(input) : [];
  if (typeof headers === "string") return problem(`The tool was left out: ${headers}. The server's author must fix it`, name);
  const title = firstString(raw["title"], isRecord(raw["annotations"]) ? raw["annotations"]["title"] : undefined);
  const output = raw["outputSchema"];
  const tool: Tool = {
    name,
    ...(title === undefined ? {} : { title }),
    description: firstString(raw["description"], title) ?? "",
    input,
    ...(isRecord(output) ? { output: output as JsonSchema } : {}),
    effect: effectOf(raw["annotations"]),
    tags: [],
    permissions: [],
    labels: labelsOf(raw["annotations"]),
    version: "0.0.0",
    timeoutMs: defaults.timeoutMs,
    examples: [],
    errors: [],
    handler: defaults.handler(name),
  };
  return { kind: "tool", listed: { tool, headers } };
}

/** What a schema of an object has beside its type, and what says nothing of the type. */
const objectWords = new Set(["$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired"]);

/**
 * The schema, or what is wrong with it. MCP asks for an object schema; anything else cannot describe named arguments. One
 * that only forgot its type is read as it was meant: a server whose converter loses all of a schema (server-gitlab
 * 2025.4.25, nine tools of nine) answers calls all the same.
 */
function parseInputSchema(schema: unknown): JsonSchema | string {
  if (schema === undefined) return "It has no inputSchema";
  if (!isRecord(schema)) return "Its inputSchema is not an object";
  if (schema["type"] === undefined && Object.keys(schema).every((key) => objectWords.has(key))) return { ...schema, type: "object" };
  if (schema["type"] !== "object") return `Its inputSchema must have "type": "object", it has ${JSON.stringify(schema["type"]) ?? "none"}`;
  return schema;
}

/** Hints are the server's own claims; the gate counts them only once a person trusted the server (DESIGN P0). */
function effectOf(annotations: unknown): Effect {
  if (!isRecord(annotations)) return "write";
  if (annotations["readOnlyHint"] === true) return "read";
  return annotations["destructiveHint"] === true ? "destructive" : "write";
}

/** A tool of an open world brings what strangers wrote, and what it is given leaves for there. A claim, and one that only tightens. */
function labelsOf(annotations: unknown): readonly Label[] {
  return isRecord(annotations) && annotations["openWorldHint"] === true ? ["untrusted", "external"] : [];
}
