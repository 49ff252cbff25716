import type { GuestCall, GuestCompletion, GuestEnd, GuestOutput, RunLimits } from "@callgate/contract";
import type { WasmModule } from "../engine/web-assembly.ts";

export interface WorkerStart {
  readonly module: WasmModule;
  /** Int32 cells shared with the host; see `cells`. */
  readonly control: SharedArrayBuffer;
}

/**
 * Cells both sides can see while a guest computes and no message can be read. Written with Atomics.
 */
export const cells = {
  /** Key of the guest that is on the CPU, or 0. */
  running: 0,
  /** Raised at every stretch a guest is on the CPU. */
  stretch: 1,
  /** Raised whenever the engine asks whether to go on: it stands still inside a long native operation. */
  heartbeat: 2,
  /** First of `maxSlots` cells: 1 asks the guest of that slot to stop. */
  cancel: 16,
} as const;
export const maxSlots = 256;
export const controlBytes = (cells.cancel + maxSlots) * 4;

/** Host → worker. */
export type HostMessage =
  | {
      readonly kind: "start";
      readonly key: number;
      readonly slot: number;
      readonly code: string;
      readonly modulesDigest: string;
      /** Tools of `modulesDigest`, the first time this worker hears of it. */
      readonly modulesJson?: string;
      /** Digest that will not be used again without its modules. */
      readonly forget?: string;
      readonly seed: string;
      readonly startMs: number;
      readonly limits: RunLimits;
      readonly places?: true;
    }
  | { readonly kind: "deliver"; readonly key: number; readonly completions: readonly GuestCompletion[] }
  | { readonly kind: "cancel"; readonly key: number };

/** Worker → host: what one stretch of one guest gave, or a first part of it. */
export interface StretchMessage {
  readonly key: number;
  /** The stretch goes on: the host can begin with these calls while the guest computes. */
  readonly isPart?: true;
  readonly calls: readonly GuestCall[];
  readonly outputs: readonly GuestOutput[];
  /** Completions the guest has taken in all. */
  readonly delivered: number;
  readonly cpuMs: number;
  readonly end?: GuestEnd;
}
