import type { Digest, JsonObject } from "./json.ts";

/** A tool as it was declared at some time. */
export interface PinnedTool {
  readonly name: string;
  /** Of the definition. */
  readonly digest: Digest;
  /** Everything the source declared of it (`ToolSpec`), claims included. */
  readonly definition: JsonObject;
  /** When it was pinned, or first seen where it is held. */
  readonly atMs: number;
}

/**
 * What a person let a source be: where it is reached, and its tools as they were then. Whatever differs is held until
 * somebody approves it.
 */
export interface SourcePins {
  readonly namespace: string;
  /** As the source has it; may be empty. */
  readonly purpose: string;
  /** Of what is started or reached: command and arguments, or URL. */
  readonly identity: Digest;
  /** Somebody believes what the pinned definitions say of effects. */
  readonly isTrusted: boolean;
  readonly tools: readonly PinnedTool[];
  /** Seen since, and not approved: new tools, and pinned ones that have changed. */
  readonly held: readonly PinnedTool[];
  /** Where what is held was seen, where that is another place than the pinned one: then all of it is held. */
  readonly heldIdentity?: Digest;
  /** Pinned tools that the source had no more when it was last listed. */
  readonly gone: readonly string[];
}

/**
 * Keeps the pins of one source between processes.
 *
 * Errors of all methods: `CallgateError` CONFIG_INVALID for a record that is damaged: then nothing of the source may be
 * used, because nobody knows what was approved.
 */
export interface PinStore {
  /** Undefined before the first use. */
  read(): SourcePins | undefined;
  /** Puts in place what `change` makes of what is there now. */
  update(change: (now: SourcePins | undefined) => SourcePins): void;
  /** Calls `listener` when another process may have changed them, until the returned function is called. Keeps no process alive. */
  watch(listener: () => void): () => void;
}
