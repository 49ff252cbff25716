import { decodeValue } from "@callgate/contract";
import type { CallTrace, JournalEntry, Principal, RunRecord, TracedCall } from "@callgate/contract";
import { inputMarks } from "../broker/pointers.ts";
import type { CatalogView } from "./catalog-view.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import { recordingValue } from "./recording-value.ts";
import type { RunSeams } from "./run-scope.ts";

export interface TracesOptions extends Pick<RunSeams, "journal" | "redactor"> {
  readonly view: CatalogView;
  readonly limit: number;
}

/** Direct calls and programs of a user that completed, newest first, with clear values. Erased ones, workflows, edits, sessions, replays and rehearsals are left out. */
export async function callTraces({ journal, limit, ...options }: TracesOptions, { tenant, user }: Principal): Promise<readonly CallTrace[]> {
  const traces: CallTrace[] = [];
  for (const run of await journal.listRuns({ tenant, status: "completed", limit })) {
    const { kind } = run;
    if (run.principal.user !== user || (kind !== "call" && kind !== "program") || run.capabilities !== undefined || run.edits !== undefined || run.session !== undefined || run.unreadable !== undefined) continue;
    traces.push(traceOf(options, { ...run, kind }, await journal.readEntries(tenant, run.runId, { clear: true })));
  }
  return traces;
}

function traceOf({ view, redactor }: Pick<TracesOptions, "view" | "redactor">, run: RunRecord & Pick<CallTrace, "kind">, entries: readonly JournalEntry[]): CallTrace {
  const { runId, kind, principal, taskId, conversation, language, programText, startedAtMs, tokens } = run;
  return {
    runId,
    kind,
    principal,
    ...(taskId === undefined ? {} : { taskId }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(language === undefined ? {} : { language }),
    ...(programText === undefined ? {} : { programText }),
    startedAtMs,
    ...(tokens === undefined ? {} : { tokens }),
    calls: [...readRecordedCalls(entries, []).values()].toSorted((one, other) => (one.issued?.seq ?? 0) - (other.issued?.seq ?? 0)).flatMap(({ issued, ended, output }): readonly TracedCall[] => {
      if (issued === undefined || ended === undefined || issued.compensates !== undefined || issued.args.clear === undefined) return [];
      const { seq, callId, tool, effect, atMs: issuedAtMs } = issued;
      const known = view.catalog.resolve(tool);
      // Of a tool that is gone nobody knows what is sensitive: all of it is.
      const shownArgs = redactor.whole(decodeValue(issued.args.clear), known === undefined ? [""] : inputMarks(known));
      const { outcome, effectStatus, durationMs, atMs: endedAtMs } = ended;
      return [{ seq, callId, tool, effect, outcome, effectStatus, issuedAtMs, endedAtMs, durationMs, args: recordingValue(issued.args.clear), shownArgs, ...(output?.clear === undefined ? {} : { result: recordingValue(output.clear) }) }];
    }),
  };
}
