import { encodeValue } from "@callgate/contract";
import type { AgentRecord, Principal, RunStart } from "@callgate/contract";
import { newRunId } from "../lib/new-id.ts";
import { handleOf } from "../result/handle.ts";
import { createRunLog, firstLease } from "./run-log.ts";
import type { RunSeams } from "./run-scope.ts";

/** Whose turns are written down, and into whose context their answers went. */
export interface AgentRecordRequest extends Pick<RunStart, "principal" | "limits" | "taskId" | "conversation"> {
  readonly principal: Principal;
}

/** Begins the record of an agent. It ends as crashed where its process is lost; nobody goes on with it. */
export function openAgentRecord(seams: RunSeams, request: AgentRecordRequest): AgentRecord {
  const startedAtMs = seams.clock.now();
  const runId = newRunId(startedAtMs, seams.random);
  const { principal } = request;
  const log = createRunLog(seams, firstLease(runId), { degraded: (message) => seams.emit({ kind: "journal-degraded", atMs: seams.clock.now(), message: seams.redactor.text(message) }) });
  log.begin({ ...request, runId, kind: "agent", startedAtMs, lane: "execute", language: undefined, programText: undefined, programDigest: undefined, seed: "", driver: undefined, interfaces: {}, policyVersion: seams.policy.version });
  seams.emit({ kind: "run-started", atMs: startedAtMs, runId, principal, runKind: "agent" });
  let kept = 0;
  return {
    runId,
    keep(label, value) {
      kept += 1;
      const record = seams.redactor.record(value, encodeValue(value), []);
      log.add({ kind: "result", atMs: seams.clock.now(), number: kept, label, value: record });
      log.flush();
      return handleOf(runId, kept);
    },
    within: (work) => (seams.tracing === undefined ? work() : seams.tracing.within(runId, work)),
    async end({ status, error }) {
      const endedAtMs = seams.clock.now();
      await log.finish({ status, endedAtMs, tokens: { program: 0, direct: 0, result: 0 }, ...(error === undefined ? {} : { error }), ...(kept === 0 ? {} : { resultNumber: kept }) });
      seams.emit({ kind: "run-ended", atMs: endedAtMs, runId, principal, status, durationMs: endedAtMs - startedAtMs });
    },
  };
}
