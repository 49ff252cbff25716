import type { GuestCall } from "@callgate/contract";
import { createOccurrences } from "./occurrences.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import type { RunScope } from "./run-scope.ts";
import { recordedEndOf } from "./tool-call.ts";
import type { ToolCall } from "./tool-call.ts";

/** All tool calls a program made, run or not. */
export interface CallLedger {
  readonly calls: readonly ToolCall[];
  note(issued: Extract<GuestCall, { kind: "tool" }>, record: RecordedCall | undefined): ToolCall;
  /** Writes down that a call never runs. */
  refuse(call: ToolCall): void;
}

export function createCallLedger({ runId, view, log, seams, rehearsal }: RunScope): CallLedger {
  const calls: ToolCall[] = [];
  const occurrences = createOccurrences();
  return {
    calls,
    note({ seq, tool, args }, record) {
      const effect = record?.issued?.effect ?? view.catalog.resolve(tool)?.tool.effect ?? "write";
      const end = record === undefined ? undefined : recordedEndOf(record, effect);
      const call: ToolCall = {
        seq,
        callId: `${runId}.${seq}`,
        tool,
        effect,
        ...(rehearsal === undefined ? {} : { isRehearsed: true as const }),
        occurrence: effect === "read" ? 0 : occurrences.next(tool, args),
        state: record?.refused === true ? "refused" : end === undefined ? "queued" : "ended",
        ...(record === undefined ? {} : { past: record.past }),
        ...(end === undefined ? {} : { end }),
      };
      calls.push(call);
      return call;
    },
    refuse(call) {
      call.state = "refused";
      log.add({ kind: "call-refused", atMs: seams.clock.now(), seq: call.seq, tool: call.tool });
    },
  };
}
