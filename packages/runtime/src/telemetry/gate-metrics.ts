import { CallgateError } from "@callgate/contract";
import type { Clock, Gate, Principal } from "@callgate/contract";
import { systemClock } from "../lib/system-clock.ts";
import { createBoundedNames, otherName } from "./bounded-names.ts";
import { countEvent } from "./count-event.ts";
import type { LabelNames } from "./count-event.ts";
import { openMetricRegistry } from "./metric-registry.ts";
import type { MetricFamily, MetricRegistry } from "./metric-registry.ts";

export interface GateMetricsOptions {
  /** Tools that are named; further ones count together as `other`. Default 500. */
  readonly maxTools?: number;
  /** Principals (tenant and user) that are named; further ones count together as `other`. 0 names none. Default 100. */
  readonly maxPrincipals?: number;
  /** Says how long questions have waited. Default: the host's. */
  readonly clock?: Pick<Clock, "now">;
}

/** What a gate did since this was created, in numbers. */
export interface GateMetrics {
  /** The media type of `text`. */
  readonly contentType: string;
  /** In the text format of Prometheus, version 0.0.4. */
  text(): Promise<string>;
  values(): Promise<readonly MetricFamily[]>;
  /** Stops counting; what was counted stays readable. Idempotent. */
  close(): void;
}

/** Rules come from the configuration; one that names what it is about in each of them must not blow the numbers up. */
const maxRules = 500;
/** What is read of each of them is a scan of the journal. */
const maxTenants = 20;

/**
 * Counts what a gate says from now on. Labels hold names and codes only: of tools that exist, of principals, of rules. The
 * broker does nothing for it, and a gate whose metrics nobody asked for pays nothing. How many questions wait is asked of
 * the journal when the numbers are read.
 *
 * Errors: `CallgateError` USAGE for a bound that is no whole number from 0.
 */
export async function createGateMetrics(gate: Gate, options: GateMetricsOptions = {}): Promise<GateMetrics> {
  const { maxTools = 500, maxPrincipals = 100, clock = systemClock() } = options;
  for (const [name, bound] of Object.entries({ maxTools, maxPrincipals })) {
    if (!Number.isSafeInteger(bound) || bound < 0) throw new CallgateError("USAGE", `${name} must be a whole number from 0, not ${String(bound)}`);
  }
  const registry = await openMetricRegistry();
  const tenants = new Map([[gate.principal.tenant, gate.principal]]);
  const names = labelNames(gate, { maxTools, maxPrincipals });
  const stop = gate.onEvent((event) => {
    if ("principal" in event && tenants.size < maxTenants && !tenants.has(event.principal.tenant)) tenants.set(event.principal.tenant, event.principal);
    countEvent(event, registry.observe, names);
  });
  const refresh = async (): Promise<void> => {
    readSources(gate, registry);
    const { count, oldestMs } = await readWaiting(gate, { asPrincipals: [...tenants.values()], nowMs: clock.now() });
    registry.observe("callgate_approvals_waiting", {}, count);
    registry.observe("callgate_approvals_oldest_seconds", {}, oldestMs / 1000);
  };
  return {
    contentType: registry.contentType,
    text: async () => {
      await refresh();
      return await registry.text();
    },
    values: async () => {
      await refresh();
      return await registry.values();
    },
    close: stop,
  };
}

function labelNames(gate: Gate, { maxTools, maxPrincipals }: { readonly maxTools: number; readonly maxPrincipals: number }): LabelNames {
  const bounded = createBoundedNames(maxTools);
  const principals = createBoundedNames(maxPrincipals);
  const existing = new Set<string>();
  return {
    tool(name, principal) {
      if (!existing.has(name)) {
        if (!gate.describe([name], { principal }).some((tool) => tool.name === name)) return { source: "unknown", tool: "unknown" };
        existing.add(name);
      }
      return { source: name.slice(0, name.indexOf(".")), tool: bounded(name) };
    },
    principal({ tenant, user }) {
      return principals(JSON.stringify([tenant, user])) === otherName ? { tenant: otherName, user: otherName } : { tenant, user };
    },
    rule: createBoundedNames(maxRules),
  };
}

function readSources(gate: Gate, registry: MetricRegistry): void {
  for (const { namespace, state, circuit } of gate.namespaces()) {
    registry.observe("callgate_source_ready", { source: namespace }, state.kind === "ready" || state.kind === "idle" ? 1 : 0);
    registry.observe("callgate_circuit_open", { source: namespace }, circuit === undefined ? 0 : 1);
  }
}

interface Waiting {
  readonly count: number;
  readonly oldestMs: number;
}

async function readWaiting(gate: Gate, { asPrincipals, nowMs }: { readonly asPrincipals: readonly Principal[]; readonly nowMs: number }): Promise<Waiting> {
  try {
    const open = (await Promise.all(asPrincipals.map((principal) => gate.approvals.list({ principal })))).flat();
    return { count: open.length, oldestMs: Math.max(0, ...open.map(({ askedAtMs }) => nowMs - askedAtMs)) };
  } catch {
    // The numbers of calls are worth most when the journal is in trouble.
    return { count: Number.NaN, oldestMs: Number.NaN };
  }
}
