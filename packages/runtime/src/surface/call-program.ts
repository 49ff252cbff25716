/**
 * The program of one call: a run waits for a person in the journal, which a direct call cannot. JSON is a part of
 * JavaScript; a big integer is written as one.
 */
export function callProgram(tool: string, args: unknown): string {
  return `return await tools.${tool}(${literal(args)});`;
}

function literal(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  // `__proto__` in quotes would set a prototype.
  return `{ ${Object.entries(value).map(([key, item]) => `[${JSON.stringify(key)}]: ${literal(item)}`).join(", ")} }`;
}
