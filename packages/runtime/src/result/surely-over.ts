/**
 * True when a value is certainly over so many tokens, found without writing it as text: every item, property and 64
 * characters cost at least one. Stops as soon as it knows, so a value of any size costs the time of `tokens` nodes.
 */
export function isSurelyOver(value: unknown, tokens: number): boolean {
  let left = tokens;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    left -= typeof next === "string" ? 1 + Math.floor(next.length / 64) : 1;
    if (left < 0) return true;
    if (typeof next !== "object" || next === null) continue;
    const children: Iterable<unknown> & { readonly length?: number } = Array.isArray(next) || next instanceof Set ? next : next instanceof Map ? next.values() : ArrayBuffer.isView(next) ? [] : Object.values(next);
    if (Array.isArray(children) && children.length > left) return true;
    for (const child of children) open.push(child);
  }
  return false;
}
