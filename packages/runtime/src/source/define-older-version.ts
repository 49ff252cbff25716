import type { OlderVersion } from "@callgate/contract";
import { normalizeSchema } from "./schema-input.ts";
import type { Parsed, SchemaInput, Unparsed } from "./schema-input.ts";

/** What `defineOlderVersion` takes: an `OlderVersion` whose schemas may come from a schema library. */
export interface OlderVersionDefinition<Input extends SchemaInput, Output extends SchemaInput | undefined> extends Pick<OlderVersion, "version" | "sensitive"> {
  readonly input: Input;
  readonly output?: Output;
  upgrade?(args: Parsed<Input>): unknown;
  downgrade?(output: unknown): Output extends SchemaInput ? Unparsed<Output> : unknown;
  restore?(output: Output extends SchemaInput ? Parsed<Output> : unknown): unknown;
}

/**
 * An interface that a tool had before, for `older` of `defineTool`. Values are held against its JSON Schema; what a schema
 * library does beyond that (defaults, transforms) is for `upgrade` and `downgrade` to do.
 *
 * Errors: `CallgateError` TOOL_INVALID when a schema is none.
 */
export function defineOlderVersion<const Input extends SchemaInput, const Output extends SchemaInput | undefined = undefined>(definition: OlderVersionDefinition<Input, Output>): OlderVersion {
  const owner = `version ${definition.version}`;
  const adapters = definition as Pick<OlderVersion, "upgrade" | "downgrade" | "restore">;
  const { version, sensitive, output } = definition;
  return Object.freeze({
    version,
    input: normalizeSchema(definition.input, `${owner}: input`, "input").json,
    ...(output === undefined ? {} : { output: normalizeSchema(output, `${owner}: output`, "output").json }),
    ...(sensitive === undefined ? {} : { sensitive }),
    ...bound(adapters, "upgrade"),
    ...bound(adapters, "downgrade"),
    ...bound(adapters, "restore"),
  });
}

/** One of the functions, with its types erased: what it is given has passed its schema. */
function bound(adapters: Pick<OlderVersion, "upgrade" | "downgrade" | "restore">, name: "upgrade" | "downgrade" | "restore"): Partial<OlderVersion> {
  const adapter = adapters[name]?.bind(adapters);
  return adapter === undefined ? {} : { [name]: adapter };
}
