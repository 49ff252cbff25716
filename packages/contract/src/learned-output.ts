import type { JsonSchema, JsonValue } from "./json.ts";

/** What a tool that declares no output was seen to answer. It is no promise: nothing is refused because of it. */
export interface LearnedOutput {
  /** Every property is optional. */
  readonly schema: JsonSchema;
  /** From how many calls, rounded down to 1, 2, 5, 10, 20, 50 ... so that it does not change with each. */
  readonly calls: number;
}

/** Where learned outputs are kept between processes. Both are synchronous and must not throw. */
export interface LearnedOutputStore {
  /** What was written last, by whichever process; undefined where there is nothing, or it cannot be read. */
  read(): JsonValue | undefined;
  /** In place of what was there, as a whole or not at all. */
  write(value: JsonValue): void;
}
