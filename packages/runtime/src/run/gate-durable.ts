import { CallgateError } from "@callgate/contract";
import type { Gate, Principal, Queue, RunRecord, RunResult } from "@callgate/contract";
import type { CatalogView } from "./catalog-view.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { newId } from "../lib/new-id.ts";
import { createRunEnder } from "./end-runs.ts";
import { createGateApprovals } from "./gate-approvals.ts";
import { createGateGrants, shownGrants } from "./gate-grants.ts";
import type { GateOptions } from "./gate-options.ts";
import { createPollingQueue } from "./polling-queue.ts";
import { createResumer, isOpenClaim } from "./resume-run.ts";
import type { Resuming } from "./resume-run.ts";
import type { RunSeams } from "./run-scope.ts";
import { startRunWorker } from "./run-worker.ts";
import { requestFor, scopeOf } from "./runner.ts";
import type { Runner } from "./runner.ts";

export interface GateDurableOptions {
  readonly options: Pick<GateOptions, "drivers" | "queue" | "onFault" | "approvals">;
  readonly seams: RunSeams;
  readonly runner: Runner;
  readonly viewFor: (principal: Principal) => CatalogView;
  readonly principal: Principal;
  readonly budgetTokens: number;
  /** All tools there are, whoever may see them. */
  readonly catalog: () => Catalog;
  /** Runs work with a signal that aborts with the caller's and with the gate. */
  readonly during: <Result>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;
}

/** The part of a gate that goes on with runs, ends them, and answers their questions. */
export interface GateDurable {
  resume(run: RunRecord, resuming: Omit<Resuming, "signal">, signal: AbortSignal | undefined): Promise<RunResult>;
  cancel(run: RunRecord, signal: AbortSignal | undefined): Promise<RunResult>;
  rollback(run: RunRecord, signal: AbortSignal | undefined): Promise<RunResult>;
  /** Something was said to a run: whoever drives it looks, or a worker wakes it. */
  heard(tenant: string, runId: string): void;
  readonly approvals: Gate["approvals"];
  readonly grants: Gate["grants"];
  readonly work: Gate["work"];
  close(): Promise<void>;
}

const defaultConcurrency = 8;

export function createGateDurable({ options, seams, runner, viewFor, principal, budgetTokens, during, catalog }: GateDurableOptions): GateDurable {
  const { journal, clock, leaseMs } = seams;
  const queue: Queue = options.queue ?? createPollingQueue({ clock });
  const resumer = createResumer({ seams, runner, drivers: options.drivers, viewFor, budgetTokens, goOnCancelling: (claimed) => ender.goOnCancelling(claimed, ended) });
  const scopeFor = (run: RunRecord, lease: Parameters<typeof scopeOf>[2]["lease"], signal: AbortSignal) =>
    scopeOf(seams, requestFor(run, { view: viewFor(run.principal), budgetTokens, signal, clock }), { lease, startedAtMs: run.startedAtMs });
  const ended = new AbortController().signal;
  const ender = createRunEnder({ seams, scopeFor: (run, lease) => scopeFor(run, lease, ended), recorded: (run) => resumer.recorded(run) });
  const rules = options.approvals ?? {};
  const grants = createGateGrants({ journal, now: () => clock.now(), newId: () => newId("grt", seams.random), principal, rules, policy: seams.policy, catalog });
  const quietly = (fault: unknown): void => {
    // A run whose tools have changed says so to whoever resumes it; a worker leaves it for later.
    if (!CallgateError.is(fault) || (fault.code !== "RUN_NOT_RESUMABLE" && fault.code !== "CLOSED")) options.onFault?.(fault);
  };

  function heard(tenant: string, runId: string): void {
    seams.live.heard(runId);
    queue.wake({ tenant, runId }).catch(quietly);
  }

  return {
    heard,
    resume: (run, resuming, given) => during(given, (signal) => resumer.resume(run, { ...resuming, signal })),
    cancel: (run, given) => during(given, (signal) => ender.cancel(run, signal)),
    rollback: (run, given) => during(given, (signal) => ender.rollback(run, signal)),
    approvals: createGateApprovals({ journal, now: () => clock.now(), principal, heard, viewFor, redactor: seams.redactor, policy: seams.policy, emit: (event) => seams.emit(event), rules, grants }),
    grants: shownGrants(grants),
    work: ({ concurrency = defaultConcurrency, tenant } = {}) =>
      startRunWorker({
        queue, journal, leaseMs, concurrency, tenant,
        drive: (claimed, leave) => during(undefined, (signal) => (isOpenClaim(claimed) ? resumer.drive(claimed, { signal, leave, suspendAfterMs: seams.suspendAfterMs, acceptChanges: false }) : ender.goOnUndoing(claimed, ended))),
        failed: quietly,
      }),
    close: () => queue.close(),
  };
}
