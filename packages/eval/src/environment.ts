import type { Gate, JsonValue } from "@callgate/contract";

/** What an environment is given for one attempt. */
export interface WorldRequest<GateOptions = never> {
  /** The case's `given`. */
  readonly given: JsonValue;
  /** A folder of this attempt's own; removed after it. */
  readonly folder: string;
  /** Opens the gate of this attempt, its journal in a folder of its own. It is closed after the attempt. */
  readonly openGate: (options: GateOptions) => Promise<Gate>;
  /** Aborts when the attempt is given up. */
  readonly signal: AbortSignal;
}

/** The world of one attempt. */
export interface EvalWorld {
  /** What the subject works with, and whose journal says what it did. */
  readonly gate: Gate;
  /** All that counts of the world, read from where it really is. Asked before and after; must not change anything. */
  readonly state: () => JsonValue | Promise<JsonValue>;
  /** Ends what it started. The gate is closed before. */
  readonly close?: () => Promise<void> | void;
}

/** There is no world to be had here: its case is skipped, and says why. */
export interface NoWorld {
  /** What this machine lacks. */
  readonly missing: string;
}

/** Sets up a fresh world for each attempt. Two attempts of one case must begin in equal states. */
export type EvalEnvironment<GateOptions = never> = (request: WorldRequest<GateOptions>) => Promise<EvalWorld | NoWorld> | EvalWorld | NoWorld;
