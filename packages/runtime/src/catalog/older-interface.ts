import type { Digest, OlderVersion, ParseResult, ToolSpec } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { createSchemaValidator } from "./validation/schema-validator.ts";
import type { SchemaValidator } from "./validation/schema-validator.ts";

/** An interface that a tool had before, ready to be called as. */
export interface OlderInterface {
  readonly version: string;
  /** As the `interfaceDigest` of the tool was then. */
  readonly digest: Digest;
  /** The tool with the schemas of then. */
  readonly spec: ToolSpec;
  /** Of this form, beside what the tool says of its own. */
  readonly sensitive: readonly string[];
  /** Arguments of then, held against the schema of then, as those of now. */
  enter(args: unknown): ParseResult;
  /** An answer of now as one of then, held against the schema of then. */
  leave(output: unknown): ParseResult;
  /** Undefined where an answer of then cannot be made one of now. */
  readonly restore: ((output: unknown) => unknown) | undefined;
}

export interface OlderInterfaceParts {
  /** Qualified. */
  readonly name: string;
  readonly tool: ToolSpec;
  /** The declaration with the schemas of then, as parsed. */
  readonly spec: ToolSpec;
  readonly older: OlderVersion;
}

/** The digest of what callers are checked against. */
export function interfaceDigestOf(name: string, { input, output, effect }: Pick<ToolSpec, "input" | "output" | "effect">): Digest {
  return digestOf({ name, input, output: output ?? null, effect });
}

export function createOlderInterface({ name, tool, spec: { input: inputSchema, output: outputSchema }, older }: OlderInterfaceParts): OlderInterface {
  const { output: _output, ...rest } = tool;
  const spec: ToolSpec = Object.freeze({ ...rest, version: older.version, input: inputSchema, ...(outputSchema === undefined ? {} : { output: outputSchema }), examples: [] });
  const [input, output] = [createSchemaValidator(inputSchema), outputSchema === undefined ? undefined : createSchemaValidator(outputSchema)];
  const restore = older.downgrade === undefined ? (same: unknown) => same : older.restore?.bind(older);
  return {
    version: older.version,
    digest: interfaceDigestOf(name, spec),
    spec,
    sensitive: older.sensitive ?? wholeSides(tool.sensitive ?? []),
    enter(args) {
      const valid = input.validate(args === undefined ? {} : args);
      return valid.kind === "invalid" || older.upgrade === undefined ? valid : carried(() => older.upgrade?.(valid.value), `version ${older.version} as those of version ${tool.version}`);
    },
    leave(value) {
      const made = older.downgrade === undefined ? ({ kind: "ok", value } as const) : carried(() => older.downgrade?.(value), `version ${tool.version} as one of version ${older.version}`);
      return made.kind === "ok" ? judged(output, made.value) : made;
    },
    restore,
  };
}

function judged(output: SchemaValidator | undefined, value: unknown): ParseResult {
  return output?.validate(value) ?? { kind: "ok", value };
}

/** Its author's code: what it throws says that the value has no other form. */
function carried(work: () => unknown, what: string): ParseResult {
  const failed = (why: string): ParseResult => ({ kind: "invalid", issues: [{ path: "", message: `cannot be carried over from ${what}: ${why}` }] });
  try {
    const value = work();
    return value instanceof Promise ? failed("its adapter is asynchronous") : { kind: "ok", value };
  } catch (fault) {
    return failed(fault instanceof Error ? fault.message : String(fault));
  }
}

/** Where it is not said which parts of the older form are sensitive, none of that side is shown. */
function wholeSides(sensitive: readonly string[]): readonly string[] {
  return (["/input", "/output"] as const).filter((side) => sensitive.some((pointer) => pointer === side || pointer.startsWith(`${side}/`)));
}
