import type { CallOutcome, SimulatedBy } from "@callgate/contract";
import { createOriginIndex } from "../provenance/origin-index.ts";
import type { OriginIndex } from "../provenance/origin-index.ts";
import type { ValueVariant } from "./varied-value.ts";

/** A rehearsal as it is meant, or one that differs in its placeholders, so that what depends on them shows. `failing`: every write with one tool fails. */
export type RehearsalVariant = { readonly kind: "plain" } | { readonly kind: ValueVariant } | { readonly kind: "failing"; readonly tool: string };

/** What one rehearsal knows: which of the values in it stand for something that is not there. */
export interface Rehearsal {
  readonly variant: RehearsalVariant;
  /** Hears how a call ended. */
  note(call: { readonly seq: number; readonly tool: string }, end: { readonly outcome: CallOutcome; readonly simulated?: SimulatedBy }): void;
  /** Whether something in the value is known from a placeholder only. */
  holdsPlaceholder(value: unknown): boolean;
  /** A call is answered by a rehearsal of its own, with placeholders that are other ones already where these are. */
  nest(callId: string): void;
  isNested(callId: string): boolean;
}

export interface RehearsalOptions {
  /** Its text: what it says itself is no placeholder, even where one is equal to it. */
  readonly program: string;
  readonly variant: RehearsalVariant;
  /** The rehearsal that called it: what is a placeholder there is one in its inputs. */
  readonly within?: Rehearsal | undefined;
}

export function createRehearsal({ program, variant, within }: RehearsalOptions): Rehearsal {
  const index: OriginIndex = createOriginIndex(program);
  const nested = new Set<string>();
  return {
    variant,
    note({ seq, tool }, { outcome, simulated }) {
      if (outcome.kind === "ok") index.add({ kind: simulated === undefined ? "result" : "placeholder", seq, tool }, outcome.value);
    },
    nest: (callId) => void nested.add(callId),
    isNested: (callId) => nested.has(callId),
    holdsPlaceholder: (value) => within?.holdsPlaceholder(value) === true || index.origins(value).some(({ origins }) => origins.some(({ kind }) => kind === "placeholder") && !origins.some(({ kind, how }) => kind !== "placeholder" && how === "same")),
  };
}
