import type { Artifact, Clock, Digest, EffectStatus, SharedAnswers, WireValue } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { digestOf } from "../lib/digest.ts";
import { race } from "../lib/race.ts";
import type { Ended, ReadyCall } from "./call.ts";
import type { ParkedCall } from "./call-past.ts";
import { mismatch } from "./reserve.ts";
import { cancelledBefore } from "./validate-input.ts";
import { okOutcome } from "./validate-output.ts";

const MAX_ANSWERS = 10_000;
const MAX_CHARS = 64 * 1024 * 1024;

/** Answers that may serve more than one call. */
export interface Answers {
  /** Uses an answer that is kept or under way, else runs `work`. Only good answers are kept, and of reads alone. */
  once(call: ReadyCall, work: Work): Promise<Ended | ParkedCall>;
}

type Work = () => Promise<Ended | ParkedCall>;

/**
 * Two kinds of calls share answers:
 *
 * - reads of tools that declare `cache`: for its `ttlMs`, per tenant, principal, tool definition and arguments;
 * - writes whose tool names a business key, while one is under way here: the same key is the same write, so it happens
 *   once, and the same key with other arguments is a mistake that is refused. Across processes and restarts the journal
 *   sees to that (`reserve`).
 *
 * An error is never kept. Whoever waited for a read that failed runs its own; whoever waited for a write whose effect is
 * now in doubt gets that doubt, for a second try would be a silent repetition.
 */
export function createAnswers(clock: Clock, shared?: SharedAnswers): Answers {
  const kept = new LRUCache<string, Kept>({
    maxSize: MAX_CHARS,
    // The smallest share is that of one of as many as there may be; no more room is made than is used (lib/at-most.ts).
    sizeCalculation: ({ wire }) => Math.max(wire.json.length + 100, Math.ceil(MAX_CHARS / MAX_ANSWERS)),
    // Our clock, and no timer of its own. lru-cache takes the time 0 for "never expires".
    perf: { now: () => clock.monotonic() + 1 },
    ttlResolution: 0,
  });
  const underWay = new Map<string, Flight>();

  function once(call: ReadyCall, work: Work): Promise<Ended | ParkedCall> {
    const plan = planOf(call);
    return plan === undefined ? work() : share(plan, call, work);
  }

  async function share(plan: Plan, call: ReadyCall, work: Work): Promise<Ended | ParkedCall> {
    const known = kept.get(plan.key);
    if (known !== undefined && fits(call, known)) return again(known);
    const flight = underWay.get(plan.key);
    if (flight !== undefined) return flight.argsDigest === call.argsDigest ? await follow(call, flight, call.effect === "read" ? work : () => once(call, work)) : mismatch(call);
    const end = plan.ttlMs === undefined || shared === undefined ? work() : askShared(plan.key, call, work);
    const mine: Flight = { argsDigest: call.argsDigest, end, over: call.over };
    underWay.set(plan.key, mine);
    try {
      const answer = await end;
      if (plan.ttlMs !== undefined && !isEndedBefore(answer)) keep({ ...plan, ttlMs: plan.ttlMs }, answer);
      return answer;
    } finally {
      // What became of a write is asked of the journal next, so it has to be there.
      if (call.effect === "read") underWay.delete(plan.key);
      else call.over.then(() => underWay.delete(plan.key), () => undefined); // It never rejects.
    }
  }

  /** One look for all who ask meanwhile. What others kept is not kept here as well: it would live longer than it may. */
  async function askShared(key: string, call: ReadyCall, work: Work): Promise<Ended | ParkedCall> {
    const found = await shared?.get(key);
    const known: Kept | undefined = found === undefined ? undefined : { ...found, artifacts: [] };
    return known !== undefined && fits(call, known) ? again(known) : await work();
  }

  function keep({ key, ttlMs }: Required<Plan>, answer: Ended | ParkedCall): void {
    if (answer.kind !== "ended" || answer.outcome.kind !== "ok" || answer.wire === undefined) return;
    const { artifacts, effectStatus } = answer.outcome;
    kept.set(key, { wire: answer.wire, artifacts, effectStatus }, { ttl: ttlMs });
    // Files go with the run that made them. Nobody waits for it: the call is over without.
    if (artifacts.length === 0) shared?.put(key, { wire: answer.wire, effectStatus }, ttlMs).catch(() => undefined);
  }

  async function follow(call: ReadyCall, flight: Flight, retry: Work): Promise<Ended | ParkedCall> {
    const raced = await race(() => flight.end, { clock, stop: call.stop });
    if (raced.kind === "cancelled") return cancelledBefore(call.tool.name);
    if (call.effect !== "read") await flight.over;
    if (raced.kind !== "value" || raced.value.kind === "parked") return await retry();
    const { outcome, wire } = raced.value;
    if (outcome.kind === "ok" && wire !== undefined) return again({ wire, artifacts: outcome.artifacts, effectStatus: outcome.effectStatus });
    return outcome.effectStatus === "none" ? await retry() : { kind: "ended", outcome, cached: true, attempts: 0 };
  }

  return { once };
}

interface Kept {
  readonly wire: WireValue;
  readonly artifacts: readonly Artifact[];
  readonly effectStatus: EffectStatus;
}

interface Flight {
  readonly argsDigest: Digest;
  readonly end: Promise<Ended | ParkedCall>;
  /** Settles once its end is recorded. */
  readonly over: Promise<void>;
}

interface Plan {
  readonly key: string;
  readonly ttlMs?: number;
}

function planOf(call: ReadyCall): Plan | undefined {
  const { cache } = call.tool.tool;
  if (call.effect === "read") {
    if (cache === undefined) return undefined;
    const { task: _task, ...who } = call.request.principal;
    return { key: digestOf(["read", who, call.tool.name, call.tool.definitionDigest, call.argsDigest, ...(call.tool.older === undefined ? [] : [call.tool.older.digest])]), ttlMs: cache.ttlMs };
  }
  return call.keyed ? { key: `write ${call.key.value}` } : undefined;
}

/** An answer that another run could take in may be too large for this one; asked itself, the call ends as that says. */
function fits({ request }: ReadyCall, { wire }: Pick<Kept, "wire">): boolean {
  return wire.json.length <= request.limits.callResultBytes && Buffer.byteLength(wire.json) <= request.limits.callResultBytes;
}

/** Answered by another call. */
function isEndedBefore(answer: Ended | ParkedCall): boolean {
  return answer.kind === "ended" && answer.cached;
}

function again({ wire, artifacts, effectStatus }: Kept): Ended {
  return { kind: "ended", outcome: okOutcome(wire, artifacts, effectStatus), wire, cached: true, attempts: 0 };
}
