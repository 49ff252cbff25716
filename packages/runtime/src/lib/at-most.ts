/**
 * Bounds a cache of `lru-cache` to so many entries. Its own `max` makes room for all of them at once, which takes a gate that
 * is opened milliseconds for caches it may never use; a bound by size grows with what is in it.
 */
export function atMost(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
