import { decodeValue } from "@callgate/contract";
import type { ArgumentOrigins, CallLineage, GuestCompletion, JournalEntry, RunLineage, RunRecord, WireValue } from "@callgate/contract";
import { createOriginIndex } from "../provenance/origin-index.ts";

type Run = Pick<RunRecord, "programText" | "resultNumber">;

/** Where the parts of one call's arguments were seen before; undefined: its arguments are not there. */
export function originsOf(run: Run, entries: readonly JournalEntry[], callId: string): readonly ArgumentOrigins[] | undefined {
  const issued = entries.findIndex((entry) => entry.kind === "call-issued" && entry.callId === callId);
  return lineageOf(run, entries.slice(0, issued + 1), (id) => id === callId).calls[0]?.args;
}

/**
 * Which answers the arguments of a run's calls contain, from its record. `entries` with their clear values.
 *
 * @param isWanted which calls are looked up; default: all. Answers count whoever got them
 */
export function lineageOf({ programText = "", resultNumber }: Run, entries: readonly JournalEntry[], isWanted: (callId: string) => boolean = () => true): RunLineage {
  const index = createOriginIndex(programText);
  const tools = new Map<number, string>();
  const calls: CallLineage[] = [];
  let result: readonly ArgumentOrigins[] | undefined;
  let erased = 0;
  const read = (wire: WireValue | undefined, then: (value: unknown) => void): void => {
    if (wire === undefined) erased += 1;
    else then(decodeValue(wire));
  };
  for (const entry of entries) {
    if (entry.kind === "call-issued") {
      const { seq, callId, tool, args } = entry;
      tools.set(seq, tool);
      if (isWanted(callId)) read(args.clear, (value) => calls.push({ seq, callId, tool, args: index.origins(value) }));
    } else if (entry.kind === "call-ended" && entry.result !== undefined) {
      read(entry.result.clear, (value) => index.add({ kind: entry.simulated === undefined ? "result" : "placeholder", seq: entry.seq, tool: tools.get(entry.seq) ?? "" }, value));
    } else if (entry.kind === "delivered" && entry.call.kind === "builtin" && entry.call.name === "read_result" && entry.answer !== undefined) {
      read(entry.answer.clear, (answer) => {
        if (isValue(answer)) index.add({ kind: "handle", seq: entry.seq, tool: "results.read" }, decodeValue(answer.value));
      });
    } else if (entry.kind === "result" && entry.number === resultNumber) {
      read(entry.value.clear, (value) => (result = index.origins(value)));
    }
  }
  return { calls, ...(result === undefined ? {} : { result }), isPartial: index.isPartial, erased };
}

/** The answer of a built-in is kept as the guest gets it. */
function isValue(answer: unknown): answer is Extract<GuestCompletion["result"], { kind: "value" }> {
  return typeof answer === "object" && answer !== null && "kind" in answer && answer.kind === "value";
}
