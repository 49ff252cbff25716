import type { Artifact, Handle, JournalEntry, RunResult, WireValue } from "@callgate/contract";
import { encodeValue } from "@callgate/contract";
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
  return {
    keep: (label, value, wire = encodeValue(value)) => add({ label, value: seams.redactor.record(value, wire, []) }),
    keepArtifact(artifact) {
      const { name, mimeType, sizeBytes, digest } = artifact;
      const { handle } = add({ label: name, value: { digest, summary: { name, mimeType, sizeBytes } }, artifact });
      return { ...artifact, handle };
    },
  };
}
