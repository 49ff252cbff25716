import type { EffectStatus } from "./outcome.ts";
import type { WireValue } from "./value-codec.ts";

/** A good answer that may serve later calls. */
export interface KeptAnswer {
  readonly wire: WireValue;
  readonly effectStatus: EffectStatus;
}

/**
 * Answers of tools that declare `cache`, kept between processes. `key` stands for tenant, principal, tool, its definition
 * and the arguments.
 *
 * Never throws and never keeps a call waiting for long: what cannot be read is not there, what cannot be kept is not kept.
 */
export interface SharedAnswers {
  get(key: string): Promise<KeptAnswer | undefined>;
  put(key: string, answer: KeptAnswer, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Where sealed answers lie: a file, or what machines share. It sees neither values nor whose they are.
 *
 * - `get` gives what was put under that key within its time, or undefined; it may have been dropped to make room.
 * - Both may throw: then the answer is taken for absent.
 */
export interface AnswerStore {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, sealed: Uint8Array, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}
