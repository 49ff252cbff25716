import { createHash } from "node:crypto";
import { identifierOf } from "@callgate/runtime/catalog";

/** Longest name of a tool made of an operation. */
const maxOperationNameChars = 64;

/** What names an operation. */
export interface NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: unknown;
}

/**
 * The names of a document's operations, in their order: at most 64 characters, unique, already by the naming rule.
 *
 * A name is made of the operation's own id; without one, of method and path. Operations whose names meet are all named by
 * method and path, and where that does not tell them apart, with a part of the digest of both. So a name depends on its own
 * operation and on those that claim the same, never on their order; and what another operation takes away from a name is
 * the name itself, so that no program calls the other one by accident.
 */
export function nameOperations(operations: readonly NamedOperation[]): readonly string[] {
  const byId = operations.map((operation) => nameById(operation) ?? nameByPath(operation));
  const met = repeated(byId);
  const byPath = operations.map((operation, index) => (met.has(byId[index] ?? "") ? nameByPath(operation) : (byId[index] ?? "")));
  const again = repeated(byPath);
  return operations.map(({ method, path }, index) => {
    const name = byPath[index] ?? "";
    return again.has(name) ? withDigest(name, `${method} ${path}`) : name;
  });
}

function repeated(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(names.filter((name) => seen.has(name) || !seen.add(name)));
}

function nameById({ operationId }: NamedOperation): string | undefined {
  return typeof operationId === "string" ? identifier(operationId) : undefined;
}

/** `GET /users/{id}/posts` is `get_users_by_id_posts`. */
function nameByPath({ method, path }: NamedOperation): string {
  const words = path.replace(/\{([^{}]*)\}/g, "/by/$1/");
  const name = identifier(`${method.toLowerCase()}/${words}`);
  // A path whose words are in no Latin letter.
  return name === undefined || name === method.toLowerCase() ? withDigest(method.toLowerCase(), `${method} ${path}`) : name;
}

/** Undefined where nothing readable is left. */
function identifier(text: string): string | undefined {
  const words = text.slice(0, 2_000).replace(/[^A-Za-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  if (!/[A-Za-z0-9]/.test(words)) return undefined;
  const name = identifierOf(words.slice(0, maxOperationNameChars * 2), "tool");
  return name.length <= maxOperationNameChars ? name : withDigest(name, text);
}

function withDigest(name: string, of: string): string {
  const digest = createHash("sha256").update(of).digest("hex").slice(0, 6);
  const start = name.slice(0, maxOperationNameChars - digest.length - 1);
  const word = start.lastIndexOf("_");
  const kept = name.length === start.length || word < maxOperationNameChars / 2 ? start : start.slice(0, word);
  return `${kept.replace(/_+$/, "")}_${digest}`;
}
