/** What stands for every name that is over the bound. */
export const otherName = "other";

/** Lets the first `max` names through and calls all others `other`, so that a metric has a bounded number of series. */
export function createBoundedNames(max: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= max) return otherName;
    known.add(name);
    return name;
  };
}
