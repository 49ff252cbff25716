import { checkParsePolicySet, policySetTextToParts, policyToJson, validate } from "@cedar-policy/cedar-wasm/nodejs";
import type { DetailedError } from "@cedar-policy/cedar-wasm/nodejs";
import { CallgateError } from "@callgate/contract";
import { policyEntry } from "./policy-entry.ts";
import type { PolicyEntry } from "./policy-entry.ts";

/** A file of Cedar policies. */
export interface PolicyFile {
  /** How errors and records name it: a path, as the configuration has it. */
  readonly name: string;
  readonly text: string;
}

/**
 * Reads files of Cedar policies. Their types are not checked yet.
 *
 * Errors: `CallgateError` CONFIG_INVALID with file, line and column.
 */
export function readPolicyFiles(files: readonly PolicyFile[]): readonly PolicyEntry[] {
  return files.flatMap(readPolicyFile);
}

function readPolicyFile(file: PolicyFile): readonly PolicyEntry[] {
  if (!file.text.isWellFormed()) throw new CallgateError("CONFIG_INVALID", `${file.name} is not UTF-8`);
  const parsed = checkParsePolicySet({ staticPolicies: file.text });
  if (parsed.type === "failure") throw new CallgateError("CONFIG_INVALID", problems(file, parsed.errors).join("\n"));
  const parts = policySetTextToParts(file.text);
  if (parts.type === "failure") throw new CallgateError("CONFIG_INVALID", problems(file, parts.errors).join("\n"));
  let from = 0;
  return inFileOrder(parts.policies).map((text, index) => {
    const at = file.text.indexOf(text, from);
    if (at >= 0) from = at + text.length;
    const place = at < 0 ? `${file.name}#${index + 1}` : `${file.name}:${lineAndColumn(file.text, at).line}`;
    const json = policyToJson(text);
    if (json.type === "failure") throw new CallgateError("CONFIG_INVALID", `${place}: ${json.errors.map(({ message }) => message).join("; ")}`);
    return policyEntry({ id: json.json.annotations?.["id"] ?? place, place, json: json.json, text });
  });
}

/** Cedar gives the parts by the names it gave them, in the order of their letters: policy0, policy1, policy10, policy2. */
function inFileOrder(parts: readonly string[]): readonly string[] {
  const names = parts.map((_, index) => `policy${index}`).sort();
  const ordered: string[] = [];
  for (const [index, name] of names.entries()) ordered[Number(name.slice("policy".length))] = parts[index] ?? "";
  return ordered;
}

export interface TypeCheck {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** Holds the policies of a file against the schema. Each problem begins with file, line and column. */
export function checkTypes(file: PolicyFile, schema: string): TypeCheck {
  const answer = validate({ schema, policies: { staticPolicies: file.text }, validationSettings: { mode: "strict" } });
  if (answer.type === "failure") return { errors: problems(file, answer.errors), warnings: [] };
  return { errors: problems(file, answer.validationErrors.map(({ error }) => error)), warnings: problems(file, answer.validationWarnings.map(({ error }) => error)) };
}

function problems(file: PolicyFile, errors: readonly DetailedError[]): readonly string[] {
  const all = errors.map((error) => {
    const [where] = error.sourceLocations ?? [];
    const { line, column } = lineAndColumn(file.text, where === undefined ? 0 : indexOfByte(file.text, where.start));
    const message = error.message.replace(/^for policy `[^`]*`[:,] /, "").replace(/^failed to parse policies from string: /, "");
    const help = helpOf(error, where?.label ?? null);
    return `${file.name}:${line}:${column}: ${message}${help === undefined ? "" : `; ${help}`}`;
  });
  return [...new Set(all)];
}

function helpOf({ message, help }: DetailedError, label: string | null): string | undefined {
  if (/attribute `(?:calls|args)` in context for Action::"run" not found/.test(message)) return 'a policy about calls says so in its head: action == Action::"call"';
  if (/attribute `(?:launcher|mounts|network|packages)` in context for Action::"call" not found/.test(message)) return 'a policy about runs says so in its head: action == Action::"run"';
  if (/includes a template/.test(message)) return "there is nothing that would fill in ?principal or ?resource, so write policies without slots";
  return help ?? label ?? undefined;
}

/** Cedar counts bytes. */
function indexOfByte(text: string, byte: number): number {
  return Buffer.from(text).subarray(0, byte).toString().length;
}

function lineAndColumn(text: string, index: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
