import { entriesOf, itemsOf, own, resolved, textOf } from "../document/local-reference.ts";

/** One branch of a choice. `tag`: the property that tells it, and the values that mean this branch. */
export interface Branch {
  readonly branch: unknown;
  readonly tag: { readonly property: string; readonly values: readonly string[] } | undefined;
}

/**
 * Which value of its `discriminator` means which branch, so that a reader can tell them apart. Values are those of the
 * mapping; one that is not in it is left to the schema, because services seldom send the names of schemas. A branch that says
 * itself what the property holds keeps its own word.
 */
export function discriminated(document: unknown, schema: unknown, branches: readonly unknown[]): readonly Branch[] {
  const discriminator = own(schema, "discriminator");
  const property = textOf(own(discriminator, "propertyName"));
  const mapping = entriesOf(own(discriminator, "mapping")).filter((entry): entry is readonly [string, string] => typeof entry[1] === "string");
  return branches.map((branch) => {
    const ref = own(branch, "$ref");
    if (property === undefined || typeof ref !== "string" || saysItself(resolved(document, branch), property)) return { branch, tag: undefined };
    const mapped = mapping.filter(([, target]) => target === ref || nameIn(target) === nameIn(ref)).map(([value]) => value);
    return { branch, tag: mapped.length > 0 ? { property, values: mapped } : undefined };
  });
}

function nameIn(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

function saysItself(branch: unknown, property: string): boolean {
  const schema = own(own(branch, "properties"), property);
  return own(schema, "const") !== undefined || itemsOf(own(schema, "enum")).length > 0;
}
