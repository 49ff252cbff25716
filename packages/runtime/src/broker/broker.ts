import { BackgroundJob, CallgateError, encodeValue } from "@callgate/contract";
import type { Interceptor, PolicyDecision } from "@callgate/contract";
import { createApprovals } from "../approval/approvals.ts";
import type { Approvals } from "../approval/approvals.ts";
import { createSharedStops } from "../lib/stop.ts";
import type { SharedStops } from "../lib/stop.ts";
import { createAnswers } from "./answers.ts";
import type { Answers } from "./answers.ts";
import { approve, denied } from "./approve.ts";
import { approveByPlan, pinned } from "./approve-by-plan.ts";
import { authorise } from "./authorise.ts";
import { parkJob, settleJob, stopJob } from "./background-job.ts";
import type { BrokerSeams, CallRequest, CallScope, Ended, PerformedCall, ReadyCall } from "./call.ts";
import type { CallPast, ParkedCall } from "./call-past.ts";
import { createCallRecord } from "./call-record.ts";
import { decide, isRefused } from "./decide.ts";
import { editCall } from "./edit-call.ts";
import { inDoubtStill } from "./ended.ts";
import { faulted } from "./faulted.ts";
import { finish, recordLate } from "./finish.ts";
import { recordIntent } from "./intent.ts";
import { interceptAfter, interceptBefore, interceptorsOf } from "./intercept.ts";
import { isEnded, isParked } from "./is-ended.ts";
import { limit } from "./limit.ts";
import { enterOlder, leaveOlder } from "./older-form.ts";
import { announce, endEarly, makeReady } from "./open-call.ts";
import type { OpenedCall } from "./open-call.ts";
import { perform } from "./perform.ts";
import type { LateEnd, Performed } from "./perform.ts";
import { precheck } from "./precheck.ts";
import { recover, recoverBlind } from "./recover.ts";
import { refusedEnd, refusedWord, withoutWord } from "./refuse-word.ts";
import { release, releaseHeld, withheldBlind } from "./release.ts";
import { rehearsedAs } from "./rehearsed-as.ts";
import { reserve } from "./reserve.ts";
import { safeText } from "./safe-text.ts";
import { refuseSecrets } from "./secret-arguments.ts";
import { simulate } from "./simulate.ts";
import { createToolSlots } from "./tool-slots.ts";
import type { ToolSlots } from "./tool-slots.ts";
import { validateInput } from "./validate-input.ts";
import { okOutcome, validateOutput } from "./validate-output.ts";

/** The only door to a tool (DESIGN P1). */
export interface Broker {
  /**
   * Carries one call from its request to its recorded end, or to where it can only wait for something outside: handed in
   * again with its `past`, it goes on from there. What a call can normally end in is a value; it rejects only with
   * `CallgateError` CLOSED after `close`.
   */
  perform(request: CallRequest): Promise<PerformedCall | ParkedCall>;
  /** Takes over what a person denied in an earlier stretch of a run, so that nobody is asked twice. */
  remember: Approvals["remember"];
  /** Cancels every call under way and resolves when each has ended and is recorded. Idempotent. */
  close(): Promise<void>;
}

/** What the broker keeps between calls. */
interface Memory {
  readonly approvals: Approvals;
  readonly answers: Answers;
  readonly slots: ToolSlots;
  readonly stops: SharedStops;
}

export function createBroker(given: BrokerSeams): Broker {
  const seams: BrokerSeams = { ...given, newId: (prefix) => given.newId(prefix), emit: quietly(given.emit.bind(given)), ...(given.log === undefined ? {} : { log: quietly(given.log.bind(given)) }) };
  const memory: Memory = { approvals: createApprovals({ ...seams, ...(seams.approvals === undefined ? {} : { rules: seams.approvals }) }), answers: createAnswers(seams.clock, seams.answers), slots: createToolSlots(seams.limits), stops: createSharedStops() };
  const { stops } = memory;
  const underWay = new Set<Promise<PerformedCall | ParkedCall>>();

  async function carry(request: CallRequest): Promise<PerformedCall | ParkedCall> {
    const startedMs = seams.clock.monotonic();
    const stop = stops.of(request.signal);
    const over = Promise.withResolvers<void>();
    const scope: CallScope = {
      seams,
      request,
      stop,
      record: createCallRecord(seams.journal, request.lease),
      safe: safeText(seams.redactor, request.args.json),
      state: { attempts: 0, over: false, personMs: 0 },
      over: over.promise,
    };
    const opened = announce(scope);
    // A late end waits for the call's own end, so that the record tells them in their order.
    const late = (end: LateEnd, attempt: number): void => {
      over.promise.then(() => (attempt === scope.state.attempts ? recordLate(scope, opened.known, end) : undefined)).catch((fault: unknown) => faulted(scope, opened.known, fault));
    };
    const end = await passStages({ scope, opened, memory, late }).catch((fault: unknown) => faulted(scope, opened.known, fault));
    if (!isParked(end)) request.rehearsal?.note(request, end);
    stop.release();
    if (isParked(end)) {
      over.resolve();
      return end;
    }
    const performed = await finish(scope, opened.known, { ...end, startedMs });
    over.resolve();
    return performed;
  }

  return {
    remember: (call, reason) => memory.approvals.remember(call, reason),
    async perform(request) {
      if (stops.allStopped) throw new CallgateError("CLOSED", "The gate was closed; this call did not happen");
      const call = carry(request);
      underWay.add(call);
      try {
        return await call;
      } finally {
        underWay.delete(call);
      }
    },
    async close() {
      stops.stopAll(new CallgateError("CLOSED", "The gate was closed"));
      await Promise.allSettled(underWay);
    },
  };
}

interface Journey {
  readonly scope: CallScope;
  readonly opened: OpenedCall;
  readonly memory: Memory;
  readonly late: (end: LateEnd, attempt: number) => void;
}

/**
 * The stages, from top to bottom. `announce` has resolved the tool and taken the one snapshot of the arguments.
 *
 * Policy decides before the precheck runs, so that a denied caller reaches no code of the tool and learns nothing about
 * its records; a person is asked after it, so that nobody is asked about a call that cannot succeed. Limits count between
 * the two: what is over one reaches no code either, and uses up no answer. A slot of the tool is taken last: nobody holds
 * one while a person thinks.
 *
 * A call of an earlier stretch of its run passes them again up to where its record ends. One that may have taken place
 * goes to `recover` instead.
 *
 * Last, the policy is asked whether the program may have the result. A tool that is called as an older version gets and gives
 * values of today's form in all of this.
 *
 * In a rehearsal a write passes them up to where a person would be asked: what is decided is recorded, nobody is asked,
 * nothing is counted, and a placeholder is its answer.
 */
async function passStages(given: Journey): Promise<Ended | ParkedCall> {
  const { opened, memory } = given;
  const refused = refusedWord(given.scope, memory.approvals);
  if (refused?.kind === "job" && !given.scope.stop.aborted) return refusedEnd(given.scope, opened.known, refused);
  const journey = refused === undefined ? given : { ...given, scope: await withoutWord(given.scope, refused) };
  const { scope } = journey;
  const opening = ready(journey);
  const call = opening instanceof Promise ? await opening : opening;
  const { past } = scope.request;
  const inDoubt = opened.known.effect !== "read" && past?.begun === true;
  if (isEnded(call) && past?.held !== undefined) return withheldBlind(scope, past.held);
  if (isEnded(call)) return inDoubt ? recoverBlind(scope, opened.known, call) : call;
  const refreshing = refreshTaint(call);
  if (refreshing !== undefined) await refreshing;
  const end = past?.held === undefined ? await passReady(call, journey, inDoubt) : await releaseHeld(call, past.held, journey.memory.approvals);
  return isParked(end) ? end : await leaveOlder(call, end);
}

/** From its arguments to an answer that the program may have, in today's form. */
async function passReady(call: ReadyCall, journey: Journey, inDoubt: boolean): Promise<Ended | ParkedCall> {
  const job = call.request.past?.job;
  const end = job === undefined ? await passCall(call, journey, inDoubt) : await passJob(call, journey, job);
  // What stands for an answer tells nothing that a policy about answers could be about.
  return isParked(end) || end.simulated !== undefined ? end : await release(call, end, journey.memory.approvals);
}

async function passCall(call: ReadyCall, journey: Journey, inDoubt: boolean): Promise<Ended | ParkedCall> {
  const interceptors = interceptorsOf(call);
  if (interceptors.length === 0) return await (inDoubt ? passInDoubt(call, journey) : passDecided(call, journey));
  return await passIntercepted(call, journey, { interceptors, inDoubt });
}

/** What may carry something away is decided about with all that is known anywhere; a read with what is known here. */
function refreshTaint({ request: { taint }, effect, tool }: ReadyCall): Promise<void> | undefined {
  return taint.refresh(effect !== "read" || tool.tool.labels.includes("external"));
}

/** A call whose work goes on outside. */
async function passJob(given: ReadyCall, { scope }: Journey, job: NonNullable<CallPast["job"]>): Promise<Ended | ParkedCall> {
  // The tool is asked about the key that the work was begun under.
  const call = await reserve(given);
  if (isEnded(call)) return call;
  const end = scope.stop.aborted || scope.request.closing === true ? await stopJob(call, job) : await settleJob(call, job);
  return isParked(end) ? end : await interceptAfter(call, end, interceptorsOf(call));
}

interface Intercepting {
  readonly interceptors: readonly Interceptor[];
  readonly inDoubt: boolean;
}

/** The same, with the host's own stages around what follows the policy's word. */
async function passIntercepted(call: ReadyCall, journey: Journey, { interceptors, inDoubt }: Intercepting): Promise<Ended | ParkedCall> {
  const { scope, opened, memory } = journey;
  // One that may have taken place was let through before.
  const first = inDoubt ? undefined : authorise(call);
  if (first !== undefined && isRefused(call, first, memory.approvals)) return await passDecided(call, journey, { decision: first });
  const looked = await interceptBefore(call, interceptors);
  if (isEnded(looked)) {
    if (inDoubt) return recoverBlind(scope, opened.known, looked);
    if (first !== undefined && looked.outcome.kind !== "denied") decide(call, first, memory.approvals);
    return await interceptAfter(call, looked, interceptors);
  }
  const { call: through, isTransformed } = looked;
  const end = await (inDoubt ? passInDoubt(through, journey) : passDecided(through, journey, isTransformed ? { before: first } : { decision: first }));
  return isParked(end) ? end : await interceptAfter(through, end, interceptors);
}

/** A write that may have taken place before its process was lost. */
async function passInDoubt(issued: ReadyCall, journey: Journey): Promise<Ended | ParkedCall> {
  const { edited } = issued.request.past ?? {};
  // What may have taken place was done with the arguments that a person gave, where they did.
  const call = edited?.clear === undefined ? issued : await editCall(issued, edited.clear);
  if (isEnded(call)) return recoverBlind(issued, journey.opened.known, call);
  const recovered = await recover(call);
  if (recovered.kind !== "goes_on") return recovered;
  if (recovered.how === "anew") return await passDecided(issued, journey);
  return inDoubtStill(call, await journey.memory.answers.once(call, () => performOnce(call, journey)));
}

interface Decided {
  /** About these very arguments. */
  readonly decision?: PolicyDecision | undefined;
  /** About the arguments before interceptors changed them. What asked then asks still: no stage loosens the policy. */
  readonly before?: PolicyDecision | undefined;
}

/** From the policy's word on. */
async function passDecided(call: ReadyCall, journey: Journey, { decision: known, before }: Decided = {}): Promise<Ended | ParkedCall> {
  const { memory } = journey;
  const word = pinned(call, known ?? authorise(call));
  const decision = decide(call, word.kind === "allow" && before?.kind === "ask" ? before : word, memory.approvals);
  if (decision.kind === "deny") return denied(call, decision);

  const withheld = refuseSecrets(call);
  if (withheld !== undefined) return withheld;

  const rehearsed = rehearsedAs(call);
  const limited = rehearsed === undefined ? limit(call) : undefined;
  const over = limited === undefined ? undefined : await limited;
  if (over !== undefined) return over;

  // Of what was never made nothing can be found.
  const impossible = call.tool.tool.precheck === undefined || call.request.undo !== undefined || rehearsed === "unreal" ? undefined : await precheck(call);
  if (impossible !== undefined) return impossible;
  if (rehearsed !== undefined) return await simulate(call, { isUnreal: rehearsed === "unreal" });

  const { plan } = call.request;
  const approved = decision.kind !== "ask" ? call : plan === undefined || call.effect === "read" || call.request.undo !== undefined ? await approve(call, decision, memory.approvals) : await approveByPlan(call, decision, { plan, approvals: memory.approvals });
  if (isEnded(approved) || isParked(approved)) return approved;
  return await memory.answers.once(approved, () => performOnce(approved, journey));
}

/** The call with its tool, its valid arguments and its key; what is wrong with it otherwise. */
function ready({ scope, opened }: Journey): ReadyCall | Ended | Promise<ReadyCall | Ended> {
  const { tool, issued } = opened;
  if (isEnded(tool)) return endEarly(scope, opened, tool);
  if (isEnded(issued)) return endEarly(scope, opened, issued);
  const written = enterOlder(scope, tool, issued.args);
  if (isEnded(written)) return endEarly(scope, opened, written);
  const readied = (valid: Awaited<ReturnType<typeof validateInput>>): ReadyCall | Ended => {
    if (isEnded(valid)) return endEarly(scope, opened, valid);
    const call = makeReady(scope, opened, { tool, issued, written, args: valid.args });
    return isEnded(call) ? endEarly(scope, opened, call) : call;
  };
  const valid = validateInput(scope, tool, written);
  return valid instanceof Promise ? valid.then(readied) : readied(valid);
}

/** From the tool's turn to its checked result. */
async function performOnce(call: ReadyCall, { memory, late }: Journey): Promise<Ended | ParkedCall> {
  if (rehearsedAs(call) !== undefined) throw new CallgateError("ASSERTION", `${call.tool.name} was about to be called in a rehearsal`);
  const taken = memory.slots.take(call);
  const slot = taken instanceof Promise ? await taken : taken;
  if (isEnded(slot)) return slot;
  try {
    const held = call.effect === "read" ? call : await reserve(call);
    if (isEnded(held)) return held;
    const stopped = held.effect === "read" ? undefined : await recordIntent(held);
    if (stopped !== undefined) return stopped;
    const performed = await perform(held, late, slot);
    if (isEnded(performed)) return performed;
    if (held.request.undo !== undefined) return undone(performed);
    if (BackgroundJob.is(performed.value)) return await parkJob(held, performed);
    const end = await validateOutput(held, performed);
    if (end.outcome.kind === "ok") held.seams.answered?.(held.tool, held.request.principal.tenant, end.value);
    return end;
  } finally {
    slot.giveBack();
  }
}

/** What undoes has no output of its own. */
function undone({ attempts }: Performed): Ended {
  const wire = encodeValue(undefined);
  return { kind: "ended", outcome: okOutcome(wire, [], "done"), wire, cached: false, attempts };
}

/** Listeners and log sinks are foreign code; what they throw must not end a call half-way. */
function quietly<Item>(tell: (item: Item) => void): (item: Item) => void {
  return (item) => {
    try {
      tell(item);
    } catch {
      // Theirs to see to.
    }
  };
}
