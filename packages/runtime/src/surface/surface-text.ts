import type { Gate, NamespaceView, Principal } from "@callgate/contract";
import { shownNamespaces } from "./shown-namespaces.ts";
import type { GateToolName } from "./tool-inputs.ts";

/** Catalogs whose declarations are at most this long are shown whole, so that no turn is spent on looking. */
const inlineTokens = 1_500;
/** More tools than could be within that are not even written down to see. */
const maxInlineTools = 200;
/** Namespaces named in a description. */
const NAMESPACES_SHOWN = 40;

export interface SurfaceText {
  readonly descriptions: Readonly<Record<GateToolName, string>>;
  readonly instructions: string;
  /** Whether the types are in the description. */
  readonly inlined: boolean;
}

/**
 * What a client is told. It names what is behind the gate: a model that reads only "finds tools" does not look for any.
 * Each thing is said once, for every word is paid for on every turn: purposes with the search, names where a program is
 * written, types in place of both where they fit. Length is bounded whatever the number of tools.
 *
 * @param allows which of the tools exist for the client. Default: all that the principal may call
 */
export function surfaceText(gate: Gate, principal: Principal, allows?: (tool: string) => boolean): SurfaceText {
  const all = shownNamespaces(gate, principal, allows);
  const namespaces = all.filter((namespace) => namespace.toolCount > 0);
  const away = all.flatMap(({ unavailable }) => (unavailable === undefined ? [] : [unavailable.namespace]));
  const total = namespaces.reduce((sum, namespace) => sum + namespace.toolCount, 0);
  const names = `${namesText(namespaces, total)}${awayText(away)}`;
  const declarations = total === 0 || total > maxInlineTools || (allows !== undefined && !isWhole(gate, principal, all)) ? "" : gate.declarations({ principal, ...(allows === undefined ? {} : { namespaces: namespaces.map(({ namespace }) => namespace) }) }).trim();
  const inlined = declarations !== "" && estimateTokens(declarations) <= inlineTokens;
  const types = inlined ? `\n\nAll types:\n\`\`\`ts\n${declarations}\n\`\`\`` : "\n\nFind names and types with search_tools before you write the program; do not guess.";
  const example = namespaces[0]?.namespace ?? "files";
  return {
    inlined,
    instructions: `${names} For one call use call_tool; for more, loops, filters or joins write a program for execute_code (query_code when it only reads).`,
    descriptions: {
      search_tools: `Finds tools by what you want to do. ${behindText(namespaces, total)}${awayText(away)}`,
      get_tool_details: "Describes tools in full: signature, when to use them, errors, examples. Names come from search_tools.",
      call_tool: "Calls one tool. For several calls, or when a result is large and you need a part of it, execute_code costs fewer turns and tokens.",
      execute_code: [
        `Runs a TypeScript program that calls tools as modules, and returns its value. It is type-checked first; errors come back with line and column and nothing is run. Data that goes from tool to tool does not pass through you.${inlined ? "" : ` ${names}`}`,
        `\`\`\`ts\nimport { ${example} } from "tools";\nconst found = await ${example}.some_tool({ id: 1 });\nreturn found.items.length;\n\`\`\``,
        `Await every call; run independent ones with Promise.all. \`return\` what you need, not everything. There is no network, file system, process or npm module; each run starts fresh. A failed call throws an error with \`code\`, \`tool\` and \`retryable\`. A value over the budget comes back as an outline and a handle for read_result.${types}`,
      ].join("\n"),
      query_code: "Like execute_code, with the same modules, but only tools that read can be reached: a program that could write is refused before it runs. Prefer it when nothing is to be changed.",
      read_result: "Reads a part of a result kept under a handle (`result://...`): a path, a range, lines that match, or the passages that answer a question.",
    },
  };
}

/** Declarations are of whole namespaces: with one tool of them left out, they would name what is not there. */
function isWhole(gate: Gate, principal: Principal, shown: readonly NamespaceView[]): boolean {
  const all = new Map(gate.namespaces({ principal }).map(({ namespace, toolCount }) => [namespace, toolCount]));
  return shown.every(({ namespace, toolCount }) => toolCount === 0 || toolCount === all.get(namespace));
}

/** The namespaces in one line. */
function namesText(namespaces: readonly NamespaceView[], total: number): string {
  if (namespaces.length === 0) return "No tools are behind it yet.";
  const shown = namespaces.slice(0, NAMESPACES_SHOWN).map(({ namespace, toolCount }) => `${namespace} (${toolCount})`);
  const more = namespaces.length - shown.length;
  return `Behind it are ${total} tools in ${shown.join(", ")}${more > 0 ? ` and ${more} more namespaces` : ""}.`;
}

/** What is there and cannot be reached. Why is said to who asks for it; here it would change with every attempt. */
function awayText(namespaces: readonly string[]): string {
  if (namespaces.length === 0) return "";
  const shown = namespaces.slice(0, NAMESPACES_SHOWN).join(", ");
  return ` Cannot be reached for now: ${shown}${namespaces.length > NAMESPACES_SHOWN ? " and others" : ""}; search_tools says why and when to try again.`;
}

function behindText(namespaces: readonly NamespaceView[], total: number): string {
  if (namespaces.length === 0) return "No tools are behind it yet.";
  const shown = namespaces.slice(0, NAMESPACES_SHOWN).map((namespace) => {
    const purpose = namespace.purpose === undefined || namespace.purpose === "" ? "" : `: ${namespace.purpose.slice(0, 120)}`;
    const state = namespace.state.kind === "down" || namespace.state.kind === "auth_needed" ? ` [${namespace.state.kind.replace("_", " ")}]` : "";
    return `- ${namespace.namespace} (${namespace.toolCount})${state}${purpose}`;
  });
  const more = namespaces.length - shown.length;
  return [`Behind it are ${total} tools:`, ...shown, ...(more > 0 ? [`- and ${more} more namespaces`] : [])].join("\n");
}

/** Tokens of declarations, from above: TypeScript runs at 3.5 to 4 characters a token in o200k. */
function estimateTokens(text: string): number {
  return Math.ceil(text.length / 3.5);
}
