import { hash } from "node:crypto";
import type { Digest } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";

export interface IdempotencyParts {
  readonly tenant: string;
  readonly taskId: string | undefined;
  readonly runId: string;
  readonly tool: string;
  /** The tool's own name for the record a write makes. */
  readonly businessKey: string | undefined;
  readonly argsDigest: Digest;
  readonly occurrence: number;
  /** Undoing a write is a write of its own, once for each. */
  readonly undoes?: number | undefined;
  /** How often this write was made and undone before: made again, it is another. Default 0. */
  readonly undoneBefore?: number;
}

/** A key that is made when it is first asked for: of a read hardly anybody wants it. */
export interface IdempotencyKey {
  readonly value: string;
  /** The key of the same write after it was undone once more: a service that knows this one would answer with what is gone. */
  afterUndoing(): IdempotencyKey;
}

export function lazyKey(parts: IdempotencyParts): IdempotencyKey {
  let value: string | undefined;
  return {
    get value() {
      value ??= idempotencyKey(parts);
      return value;
    },
    afterUndoing: () => lazyKey({ ...parts, undoneBefore: (parts.undoneBefore ?? 0) + 1 }),
  };
}

/**
 * The key a tool hands to the service behind it (DESIGN P6): equal for the same call of the same piece of work however
 * often it is retried, resumed or submitted again, different for everything else.
 *
 * A business key is itself the identity of the write, so two calls with the same one are the same write. Without it,
 * two equal calls of a run are two: their occurrence tells them apart.
 */
export function idempotencyKey(parts: IdempotencyParts): string {
  const scope = parts.taskId === undefined ? ["run", parts.runId] : ["task", parts.taskId];
  const write = parts.businessKey === undefined ? ["args", parts.argsDigest, parts.occurrence] : ["business", parts.businessKey];
  const made = parts.undoneBefore === undefined ? write : ["again", parts.undoneBefore, write];
  const identity = parts.undoes === undefined ? made : ["undo", parts.runId, parts.undoes, made];
  // Nested lists, not joined text: no two different calls can spell the same key.
  return hash("sha256", digestOf([parts.tenant, scope, parts.tool, identity]), "base64url");
}
