import type { Artifact, Handle, JournalEntry, JsonValue, RunResult, WireValue } from "@callgate/contract";
import { encodeValue } from "@callgate/contract";
import { hideValues } from "../broker/sensitive-values.ts";
import { handleOf } from "../result/handle.ts";
import type { RunScope } from "./run-scope.ts";

/** Values and files of a run that are kept under handles. */
export interface KeptValues {
  keep(label: string, value: unknown, wire?: WireValue): { readonly handle: Handle; readonly number: number };
  keepArtifact(artifact: Artifact): RunResult["artifacts"][number];
}

/** Numbers count over the whole run. The value of one that was never suspended is `result://<runId>/1`. */
export function createKeptValues(scope: RunScope): KeptValues {
  const { seams, log, runId } = scope;
  let last = scope.resultsBefore ?? 0;
  const add = (entry: Omit<Extract<JournalEntry, { kind: "result" }>, "kind" | "atMs" | "number">): { readonly handle: Handle; readonly number: number } => {
    last += 1;
    log.add({ kind: "result", atMs: seams.clock.now(), number: last, ...entry });
    return { handle: handleOf(runId, last), number: last };
  };
  const hashOf = (value: string): string => {
    const hash = seams.redactor.summary(value, [""]);
    return typeof hash === "string" ? hash : "[sensitive]";
  };
  /** What a program returns may hold what a tool called sensitive; its hash is the one that the call's own record has. */
  const withoutSensitive = (summary: JsonValue): JsonValue => {
    const values = [...scope.sensitive].sort((a, b) => b.length - a.length);
    return values.length === 0 ? summary : hideValues(summary, values, hashOf);
  };
  return {
    keep(label, value, wire = encodeValue(value)) {
      const record = seams.redactor.record(value, wire, []);
      return add({ label, value: { ...record, summary: withoutSensitive(record.summary) } });
    },
    keepArtifact(artifact) {
      const { name, mimeType, sizeBytes, digest } = artifact;
      const { handle } = add({ label: name, value: { digest, summary: { name, mimeType, sizeBytes } }, artifact });
      return { ...artifact, handle };
    },
  };
}
