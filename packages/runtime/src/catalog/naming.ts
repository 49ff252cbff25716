import { CallgateError } from "@callgate/contract";

/** Longest name a tool or namespace may have. */
export const maxNameChars = 256;

const javascriptWords =
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in Infinity instanceof interface let NaN new null package private protected public return static super switch this throw true try typeof undefined var void while with yield";
const pythonWords =
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";
/** What JavaScript looks up by itself on any object, so that a tool of that name would be called or hidden by accident. */
const implicitMembers = "constructor prototype then toJSON toString valueOf";

const reserved: ReadonlySet<string> = new Set(`${javascriptWords} ${pythonWords} ${implicitMembers}`.split(" "));
/** Members of `tools` that are the runtime's own. */
const reservedNamespaces: ReadonlySet<string> = new Set(["search", "describe", "sleep", "waitFor"]);

/** `__proto__`, `__init__` and their like mean something to JavaScript or Python. */
const dunder = /^__[A-Za-z0-9](?:\w*[A-Za-z0-9])?__$/;

/**
 * The identifier a tool's or namespace's name becomes, the same in TypeScript, Python, policy and audit.
 *
 * Every character outside `[A-Za-z0-9_]` becomes `_`, case is kept, a leading digit gets `_` before it, a reserved word
 * (of JavaScript or Python, or a member JavaScript calls by itself) gets `_` at its end. Different names may meet in one
 * identifier; the catalog refuses that.
 *
 * @param kind a namespace may further not be what `tools` has of its own, such as `search` or `sleep`
 *
 * Errors: `CallgateError` TOOL_INVALID for an empty or overlong name.
 */
export function identifierOf(name: string, kind: "tool" | "namespace"): string {
  if (name === "" || name.length > maxNameChars) {
    throw new CallgateError("TOOL_INVALID", `A ${kind}'s name must have 1 to ${maxNameChars} characters, this one has ${name.length}`);
  }
  const spelled = name.replace(/[^A-Za-z0-9_]/gu, "_");
  const led = /^[0-9]/.test(spelled) ? `_${spelled}` : spelled;
  return reserved.has(led) || dunder.test(led) || (kind === "namespace" && reservedNamespaces.has(led)) ? `${led}_` : led;
}
