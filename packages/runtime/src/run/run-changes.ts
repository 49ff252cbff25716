import type { RunRecord, UnavailableNamespace } from "@callgate/contract";
import type { CatalogView } from "./catalog-view.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** What is not as it was when a program was checked. */
export interface RunChanges {
  /** Tools it can reach that are gone, or have another interface: it may not fit them any more. */
  readonly tools: readonly string[];
  /** Sources of tools it can reach that cannot be reached just now: whether those tools have changed is not known. */
  readonly away: readonly UnavailableNamespace[];
  /** What is seen to in other ways: each call is judged by the policy of its day, each answer by the driver's replay. */
  readonly others: readonly string[];
}

export interface ChangedWorld {
  readonly view: CatalogView;
  readonly policyVersion: string;
  readonly driver: string;
}

export function changesSince(run: RunRecord, { checked }: RecordedRun, { view, policyVersion, driver }: ChangedWorld): RunChanges {
  const reached = Object.entries(checked.interfaces ?? {});
  const away = view.unavailable.filter(({ namespace }) => reached.some(([name]) => name.startsWith(`${namespace}.`)));
  const tools = reached.flatMap(([name, digest]) => {
    if (away.some(({ namespace }) => name.startsWith(`${namespace}.`))) return [];
    const tool = view.catalog.resolve(name);
    if (tool === undefined || !view.visible(tool)) return [`tool ${name} is gone`];
    return tool.interfaceDigest === digest ? [] : [`tool ${name} has another interface`];
  });
  const others = [
    ...(run.policyVersion === policyVersion ? [] : ["the policy has changed"]),
    ...(run.driver === undefined || run.driver === driver ? [] : [`the sandbox is ${driver} instead of ${run.driver}`]),
  ];
  return { tools, away, others };
}
