import { CallgateError } from "@callgate/contract";
import { createApprovals } from "../approval/approvals.ts";
import type { Approvals } from "../approval/approvals.ts";
import { linkedAbort } from "../lib/linked-abort.ts";
import { createAnswers } from "./answers.ts";
import type { Answers } from "./answers.ts";
import { approve, denied } from "./approve.ts";
import { authorise } from "./authorise.ts";
import type { BrokerSeams, CallRequest, CallScope, Ended, PerformedCall, ReadyCall } from "./call.ts";
import { createCallRecord } from "./call-record.ts";
import { decide } from "./decide.ts";
import { faulted } from "./faulted.ts";
import { finish, recordLate } from "./finish.ts";
import { recordIntent } from "./intent.ts";
import { announce, endEarly, isEnded, makeReady } from "./open-call.ts";
import type { OpenedCall } from "./open-call.ts";
import { perform } from "./perform.ts";
import type { LateEnd } from "./perform.ts";
import { precheck } from "./precheck.ts";
import { safeText } from "./safe-text.ts";
import { createToolSlots } from "./tool-slots.ts";
import type { ToolSlots } from "./tool-slots.ts";
import { validateInput } from "./validate-input.ts";
import { validateOutput } from "./validate-output.ts";

/** The only door to a tool (DESIGN P1). */
export interface Broker {
  /**
   * Carries one call from its request to its recorded end. What a call can normally end in is a value; it rejects only
   * with `CallgateError` CLOSED after `close`.
   */
  perform(request: CallRequest): Promise<PerformedCall>;
  /** Cancels every call under way and resolves when each has ended and is recorded. Idempotent. */
  close(): Promise<void>;
}

/** What the broker keeps between calls. */
interface Memory {
  readonly approvals: Approvals;
  readonly answers: Answers;
  readonly slots: ToolSlots;
}

export function createBroker(given: BrokerSeams): Broker {
  const seams: BrokerSeams = { ...given, newId: (prefix) => given.newId(prefix), emit: quietly(given.emit.bind(given)), ...(given.log === undefined ? {} : { log: quietly(given.log.bind(given)) }) };
  const memory: Memory = { approvals: createApprovals(seams), answers: createAnswers(seams.clock), slots: createToolSlots() };
  const closing = new AbortController();
  const underWay = new Set<Promise<PerformedCall>>();

  async function carry(request: CallRequest): Promise<PerformedCall> {
    const startedMs = seams.clock.monotonic();
    const linked = linkedAbort(request.signal, closing.signal);
    const scope: CallScope = {
      seams,
      request,
      signal: linked.signal,
      record: createCallRecord(seams.journal, request.lease),
      safe: safeText(seams.redactor, request.args.json),
      state: { attempts: 0, over: false, personMs: 0 },
    };
    const over = Promise.withResolvers<void>();
    const opened = announce(scope);
    // A late end waits for the call's own end, so that the record tells them in their order.
    const late = (end: LateEnd, attempt: number): void => {
      over.promise.then(() => (attempt === scope.state.attempts ? recordLate(scope, opened.known, end) : undefined)).catch((fault: unknown) => faulted(scope, opened.known, fault));
    };
    const end = await passStages({ scope, opened, memory, late }).catch((fault: unknown) => faulted(scope, opened.known, fault));
    linked.unlink();
    const performed = await finish(scope, opened.known, { ...end, startedMs });
    over.resolve();
    return performed;
  }

  return {
    async perform(request) {
      if (closing.signal.aborted) throw new CallgateError("CLOSED", "The gate was closed; this call did not happen");
      const call = carry(request);
      underWay.add(call);
      try {
        return await call;
      } finally {
        underWay.delete(call);
      }
    },
    async close() {
      closing.abort(new CallgateError("CLOSED", "The gate was closed"));
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
 * its records; a person is asked after it, so that nobody is asked about a call that cannot succeed. A slot of the tool
 * is taken last: nobody holds one while a person thinks.
 */
async function passStages({ scope, opened, memory, late }: Journey): Promise<Ended> {
  const { tool, issued } = opened;
  if (isEnded(tool)) return endEarly(scope, opened, tool);
  if (isEnded(issued)) return endEarly(scope, opened, issued);

  const valid = await validateInput(scope, tool, issued.args);
  if (isEnded(valid)) return endEarly(scope, opened, valid);
  const call = makeReady(scope, opened, { tool, issued, args: valid.args });
  if (isEnded(call)) return endEarly(scope, opened, call);

  const decision = decide(call, authorise(call), memory.approvals);
  if (decision.kind === "deny") return denied(call, decision);

  const impossible = await precheck(call);
  if (impossible !== undefined) return impossible;

  if (decision.kind === "ask") {
    const refused = (await recordIntent(call, "lazy")) ?? (await approve(call, decision, memory.approvals));
    if (refused !== undefined) return refused;
  }
  return await memory.answers.once(call, () => performOnce(call, memory.slots, late));
}

/** From the tool's turn to its checked result. */
async function performOnce(call: ReadyCall, slots: ToolSlots, late: Journey["late"]): Promise<Ended> {
  const slot = await slots.take(call);
  if (isEnded(slot)) return slot;
  try {
    const unrecorded = await recordIntent(call, "full");
    if (unrecorded !== undefined) return unrecorded;
    const performed = await perform(call, late, slot);
    return isEnded(performed) ? performed : await validateOutput(call, performed);
  } finally {
    slot.giveBack();
  }
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
