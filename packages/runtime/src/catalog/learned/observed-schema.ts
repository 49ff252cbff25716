import type { JsonSchema } from "@callgate/contract";
import type { ObservedType } from "./observed-type.ts";

/**
 * What was seen, as a schema.
 *
 * @param isRequired every field that was seen counts as always there: for the check, where "may be missing" would be said of each
 * access and tell nothing. What people and models are shown has every field optional
 */
export function observedSchema(type: ObservedType, { isRequired }: { readonly isRequired: boolean }): JsonSchema {
  const { kinds, properties, items, values } = type;
  // Values that no schema can say, or that are nobody's business.
  if (kinds.length === 0 || kinds.includes("other")) return true;
  const inner = (one: ObservedType): JsonSchema => observedSchema(one, { isRequired });
  const names = Object.keys(properties ?? {}).sort();
  return {
    type: kinds.length === 1 ? (kinds[0] ?? "null") : [...kinds],
    ...(kinds.includes("array") ? { items: items === undefined ? true : inner(items) } : {}),
    ...(!kinds.includes("object") ? {} : values === undefined ? { properties: Object.fromEntries(names.map((name) => [name, inner(properties?.[name] ?? type)])), ...(isRequired && names.length > 0 ? { required: names } : {}) } : { additionalProperties: inner(values) }),
  };
}
