import type { CallOutcome, SimulatedBy } from "@callgate/contract";
import { createOriginIndex } from "../provenance/origin-index.ts";
import type { OriginIndex } from "../provenance/origin-index.ts";

/** What one rehearsal knows: which of the values in it stand for something that is not there. */
export interface Rehearsal {
  /** Placeholders are other ones than in a plain rehearsal, so that what depends on them shows. */
  readonly isVaried: boolean;
  /** Hears how a call ended. */
  note(call: { readonly seq: number; readonly tool: string }, end: { readonly outcome: CallOutcome; readonly simulated?: SimulatedBy }): void;
  /** Whether something in the value is known from a placeholder only. */
  holdsPlaceholder(value: unknown): boolean;
}

/** @param program its text: what it says itself is no placeholder, even where one is equal to it */
export function createRehearsal({ program, isVaried }: { readonly program: string; readonly isVaried: boolean }): Rehearsal {
  const index: OriginIndex = createOriginIndex(program);
  return {
    isVaried,
    note({ seq, tool }, { outcome, simulated }) {
      if (outcome.kind === "ok") index.add({ kind: simulated === undefined ? "result" : "placeholder", seq, tool }, outcome.value);
    },
    holdsPlaceholder: (value) => index.origins(value).some(({ origins }) => origins.some(({ kind }) => kind === "placeholder") && !origins.some(({ kind, how }) => kind !== "placeholder" && how === "same")),
  };
}
