/** The place a path names, or what was wrong with it. */
export type Found = { readonly kind: "found"; readonly value: unknown } | { readonly kind: "missing"; readonly message: string };

/**
 * Follows a JSON Pointer (`/rows/0/name`) or a dotted path (`rows[0].name`, `rows.0.name`; a leading `$` is allowed) into
 * plain data. Own properties, array items and string keys of maps only.
 */
export function followPath(value: unknown, path: string): Found {
  let here = value;
  let walked = "";
  for (const step of parsePath(path)) {
    const next = child(here, step);
    if (next === undefined) return { kind: "missing", message: `There is nothing at ${walked}/${step}: ${whatIsThere(here)}` };
    here = next.value;
    walked = `${walked}/${step}`;
  }
  return { kind: "found", value: here };
}

function parsePath(path: string): string[] {
  if (path === "" || path === "$" || path === "/") return [];
  if (path.startsWith("/")) return path.slice(1).split("/").map((step) => step.replace(/~1/g, "/").replace(/~0/g, "~"));
  const steps: string[] = [];
  for (const [, name, index, quoted] of path.replace(/^\$\.?/, "").matchAll(/([^.[\]]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/g)) steps.push(name ?? index ?? (quoted ?? "").replace(/\\(.)/g, "$1"));
  return steps;
}

function child(value: unknown, step: string): { readonly value: unknown } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    const index = /^-?\d{1,10}$/.test(step) ? Number(step) : Number.NaN;
    const at = index < 0 ? value.length + index : index;
    return at >= 0 && at < value.length ? { value: value[at] as unknown } : undefined;
  }
  if (value instanceof Map) return value.has(step) ? { value: value.get(step) as unknown } : undefined;
  return Object.hasOwn(value, step) ? { value: (value as Readonly<Record<string, unknown>>)[step] } : undefined;
}

function whatIsThere(value: unknown): string {
  if (Array.isArray(value)) return `that place holds a list of ${value.length} items`;
  if (typeof value !== "object" || value === null) return `that place holds ${value === null ? "null" : `a ${typeof value}`}`;
  const keys = value instanceof Map ? [...value.keys()].filter((key) => typeof key === "string") : Object.keys(value);
  const shown = keys.slice(0, 20).map((key) => (key.length > 60 ? `${key.slice(0, 60)}…` : key));
  return `its keys are ${shown.join(", ")}${keys.length > shown.length ? ` and ${keys.length - shown.length} more` : ""}`;
}
