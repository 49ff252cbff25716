import type { JsonSchema } from "@callgate/contract";

/** A field of a tool's input. */
export interface InputField {
  readonly name: string;
  readonly isRequired: boolean;
  /** Its values where they are named one by one. */
  readonly values: readonly string[];
}

/** The fields of an input schema at its first level, those of `allOf` too. */
export function inputFields(schema: JsonSchema): readonly InputField[] {
  const fields = new Map<string, InputField>();
  const open: unknown[] = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isRecord(next)) continue;
    const required = Array.isArray(next["required"]) ? next["required"] : [];
    for (const [name, field] of Object.entries(isRecord(next["properties"]) ? next["properties"] : {})) fields.set(name, { name, isRequired: required.includes(name), values: valuesOf(field) });
    if (Array.isArray(next["allOf"])) open.push(...(next["allOf"] as readonly unknown[]));
  }
  return [...fields.values()];
}

/** The branches of `oneOf` and `anyOf`, where each has fields. */
export function inputBranches(schema: JsonSchema): readonly (readonly InputField[])[] {
  if (!isRecord(schema)) return [];
  const branches = [schema["oneOf"], schema["anyOf"]].flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []));
  return branches.filter(isRecord).map((branch) => inputFields(branch)).filter((fields) => fields.length > 0);
}

/** Whether a schema says which arguments there are. */
export function saysItsArguments(schema: JsonSchema): boolean {
  return isRecord(schema) && (isRecord(schema["properties"]) || schema["additionalProperties"] === false || ["oneOf", "anyOf", "allOf", "$ref", "patternProperties"].some((key) => key in schema));
}

function valuesOf(field: unknown): readonly string[] {
  if (!isRecord(field)) return [];
  if (Array.isArray(field["enum"])) return field["enum"].filter((value) => typeof value === "string");
  const branches = Array.isArray(field["anyOf"]) ? (field["anyOf"] as readonly unknown[]) : Array.isArray(field["oneOf"]) ? (field["oneOf"] as readonly unknown[]) : [];
  return branches.flatMap((branch) => (isRecord(branch) && typeof branch["const"] === "string" ? [branch["const"]] : []));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
