import type { GuestJob } from "@callgate/contract";
import type { RecordedRun } from "./recorded-run.ts";
import type { RunScope } from "./run-scope.ts";

/** The program as it was executed first, with the modules it had then. */
export function recordedJob({ view, runId, limits }: Pick<RunScope, "view" | "runId" | "limits">, { run, checked }: RecordedRun): GuestJob {
  const same = checked.modulesDigest === view.modulesDigest;
  const modules = same ? view.modules : modulesOf(Object.keys(checked.interfaces ?? {}));
  return { runId, language: run.language ?? "typescript", code: checked.code, modules, modulesDigest: same ? view.modulesDigest : JSON.stringify(modules), seed: run.seed, startMs: run.clockMs ?? run.startedAtMs, limits };
}

/** The catalog has changed since: the tools the program could reach are enough. */
function modulesOf(names: readonly string[]): GuestJob["modules"] {
  const members = new Map<string, string[]>();
  for (const name of names) {
    const dot = name.indexOf(".");
    members.set(name.slice(0, dot), [...(members.get(name.slice(0, dot)) ?? []), name.slice(dot + 1)]);
  }
  return [...members].map(([namespace, tools]) => ({ namespace, tools }));
}
