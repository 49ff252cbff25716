import type { RunRecord } from "@callgate/contract";
import type { CatalogView } from "./catalog-view.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** What is not as it was when a program was checked. */
export interface RunChanges {
  /** Tools it can reach that are gone, or have another interface: it may not fit them any more. */
  readonly tools: readonly string[];
  /** What is seen to in other ways: each call is judged by the policy of its day, each answer by the driver's replay. */
  readonly others: readonly string[];
}

export interface ChangedWorld {
  readonly view: CatalogView;
  readonly policyVersion: string;
  readonly driver: string;
}

export function changesSince(run: RunRecord, { checked }: RecordedRun, { view, policyVersion, driver }: ChangedWorld): RunChanges {
  const tools = Object.entries(checked.interfaces ?? {}).flatMap(([name, digest]) => {
    const tool = view.catalog.resolve(name);
    if (tool === undefined || !view.visible(tool)) return [`tool ${name} is gone`];
    return tool.interfaceDigest === digest ? [] : [`tool ${name} has another interface`];
  });
  const others = [
    ...(run.policyVersion === policyVersion ? [] : ["the policy has changed"]),
    ...(run.driver === undefined || run.driver === driver ? [] : [`the sandbox is ${driver} instead of ${run.driver}`]),
  ];
  return { tools, others };
}
