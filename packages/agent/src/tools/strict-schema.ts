import { CallgateError } from "@callgate/contract";
import type { Gate, JsonSchema, Principal } from "@callgate/contract";

/** Keys under which other schemas stand: by name, in a list, or alone. */
const named = ["properties", "$defs", "definitions"] as const;
const listed = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const single = ["items", "not"] as const;

/** Why a provider that holds arguments to schemas would not take this one, with the parameter; undefined where it would. */
export function strictProblem(schema: JsonSchema, at = ""): string | undefined {
  if (typeof schema === "boolean") return undefined;
  const { properties = {}, required = [], additionalProperties } = schema as { readonly properties?: Readonly<Record<string, JsonSchema>>; readonly required?: readonly string[]; readonly additionalProperties?: unknown };
  const optional = Object.keys(properties).find((name) => !required.includes(name));
  if (optional !== undefined) return `the parameter "${at}${optional}" is optional: make it required, with null among its types where nothing may be given`;
  if (schema["type"] === "object" && additionalProperties !== false) return `${at === "" ? "its arguments take" : `"${at.slice(0, -1)}" takes`} other keys as well: set additionalProperties to false`;
  for (const [name, below] of schemasBelow(schema)) {
    const problem = strictProblem(below, name === "" ? at : `${at}${name}.`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function* schemasBelow(schema: Readonly<Record<string, unknown>>): Generator<readonly [name: string, JsonSchema]> {
  for (const key of named) for (const [name, one] of Object.entries((schema[key] as Readonly<Record<string, JsonSchema>> | undefined) ?? {})) yield [key === "properties" ? name : "", one];
  for (const key of listed) for (const one of (schema[key] as readonly JsonSchema[] | undefined) ?? []) yield ["", one];
  for (const key of single) {
    const one = schema[key];
    if (typeof one === "object" && one !== null) yield ["", one as JsonSchema];
  }
}

/** Errors: `CallgateError` USAGE naming agent, tool and parameter, for the tools that are there by now. */
export function assertStrict({ name, gate, principal, allows }: { readonly name: string; readonly gate: Gate; readonly principal: Principal; readonly allows: (tool: string) => boolean }): void {
  for (const { name: tool, spec } of gate.tools({ principal })) {
    const problem = allows(tool) ? strictProblem(spec.input) : undefined;
    if (problem !== undefined) throw new CallgateError("USAGE", `Agent "${name}" is strict, and ${tool} cannot be: ${problem}. Or leave the tool out of tools, or strict`);
  }
}
