import { createHash } from "node:crypto";

/** What every provider takes as the name of a function. */
const maxChars = 64;

/**
 * A qualified name as the name of a function: `crm.get_customer` is `crm__get_customer`. Two tools never get one name: what
 * would be equal or too long ends in a hash of the name.
 */
export function functionNames(tools: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map(tools.map((tool) => [tool, tool.replaceAll(".", "__").replace(/[^A-Za-z0-9_-]/g, "_")]));
  const counts = new Map<string, number>();
  for (const name of plain.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map([...plain].map(([tool, name]) => [tool, name.length <= maxChars && counts.get(name) === 1 ? name : `${name.slice(0, maxChars - 9)}_${hash(tool)}`]));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
