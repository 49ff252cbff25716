/**
 * Properties of an array beside its items, such as `index` of a RegExp match. Linear in the length of the list.
 */
export function namedProperties(list: readonly unknown[]): readonly (readonly [name: string, value: unknown])[] {
  const keys = Object.keys(list);
  let first = keys.length;
  // Object.keys lists items before everything else.
  while (first > 0 && !/^(?:0|[1-9]\d*)$/.test(keys[first - 1] ?? "")) first -= 1;
  return keys.slice(first).map((key) => [key, (list as unknown as Readonly<Record<string, unknown>>)[key]] as const);
}
