import type { Digest, JsonValue, RecordedValue } from "@callgate/contract";
import type { BrokerTool, CallScope, Ended, FrozenArguments, Known, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";
import { faulted } from "./faulted.ts";
import { lazyKey } from "./idempotency-key.ts";
import type { IdempotencyKey } from "./idempotency-key.ts";
import { isEnded } from "./is-ended.ts";
import { inputMarks, inputPointers, outputMarks } from "./pointers.ts";
import { readArguments, unreadableDigest } from "./read-arguments.ts";
import type { IssuedArguments } from "./read-arguments.ts";
import { resolve, shownName } from "./resolve.ts";
import { sensitiveValues } from "./sensitive-values.ts";
import { readThrown } from "./thrown.ts";

/** A call as it came in, with what could be found out at once. */
export interface OpenedCall {
  readonly known: Known;
  readonly tool: BrokerTool | Ended;
  readonly issued: IssuedArguments | Ended;
  /** Of the arguments as they came in, for people; null when they could not be read. */
  readonly summary: JsonValue;
}

/** Resolves the tool, takes the snapshot of the arguments, and tells that a call was requested. */
export function announce(scope: CallScope): OpenedCall {
  const { seams, request } = scope;
  const tool = orFault(scope, () => resolve(scope));
  const issued = orFault(scope, () => readArguments(scope));
  const known: Known = {
    tool: isEnded(tool) ? shownName(request.tool) : tool.name,
    effect: isEnded(tool) ? "write" : tool.tool.effect,
    reread: !isEnded(tool) && tool.tool.effect === "read" && tool.tool.reread === true,
    ...(isEnded(tool) || tool.tool.cost === undefined ? {} : { cost: tool.tool.cost }),
    labels: isEnded(tool) ? [] : tool.tool.labels,
    argsDigest: isEnded(issued) ? unreadableDigest : issued.digest,
    sensitiveOutput: isEnded(tool) ? [""] : outputMarks(tool),
    sensitiveValues: isEnded(tool) || isEnded(issued) ? [] : sensitiveValues(issued.args.value, sensitiveInput(tool)),
  };
  const summary = isEnded(issued) ? null : seams.redactor.summary(issued.args.value, isEnded(tool) ? [""] : inputMarks(tool));
  seams.emit({ kind: "call-requested", atMs: seams.clock.now(), runId: request.runId, principal: request.principal, callId: request.callId, tool: known.tool, effect: known.effect, args: summary });
  return { known, tool, issued, summary };
}

/** These stages run foreign code too (a catalog, a policy); a fault in it ends this call only. */
function orFault<Stage>(scope: CallScope, stage: () => Stage): Stage | Ended {
  try {
    return stage();
  } catch (fault) {
    return faulted(scope, { tool: shownName(scope.request.tool), effect: "write", reread: false, labels: [], argsDigest: unreadableDigest, sensitiveOutput: [""], sensitiveValues: [] }, fault);
  }
}

/** Of a tool nobody can name, everything is sensitive: what it was meant for is not known. */
function sensitiveInput(tool: BrokerTool | Ended): readonly string[] {
  return isEnded(tool) ? [""] : inputPointers(tool);
}

export interface Readied {
  readonly tool: BrokerTool;
  readonly issued: IssuedArguments;
  /** As they came in; of a call as an older version, carried over. */
  readonly written: FrozenArguments;
  /** As the schema left them. */
  readonly args: FrozenArguments;
}

/** Puts together what the later stages need, and notes the call with its key. */
export function makeReady(scope: CallScope, opened: OpenedCall, { tool, issued, written, args }: Readied): ReadyCall | Ended {
  const business = businessKeyOf(scope, tool, args);
  if (typeof business === "object") return business;
  const key = keyOf(scope, issued.digest, business);
  const summary = args === issued.args ? undefined : scope.seams.redactor.summary(args.value, inputMarks(tool));
  const recorded = noteIssued(scope, opened, { key, ...(summary === undefined ? {} : { summary }) });
  return {
    ...scope,
    tool,
    effect: tool.tool.effect,
    argsDigest: issued.digest,
    argsSummary: recorded.summary,
    args,
    written,
    ...(tool.older === undefined ? {} : { olderArgs: issued.args }),
    key,
    keyed: business !== undefined,
  };
}

export function businessKeyOf(scope: CallScope, tool: BrokerTool, args: FrozenArguments): string | undefined | Ended {
  try {
    const key: unknown = tool.tool.businessKey?.(args.take());
    // An empty key names nothing: all calls that leave it out would be one.
    if (key === undefined || key === "") return undefined;
    if (typeof key === "string") return key;
    throw new TypeError(`it is a ${typeof key}, not a string`);
  } catch (error) {
    const { code, message } = readThrown(error, tool.tool.errors, scope.safe);
    return ended({ outcome: "failed", code, tool: tool.name, message: `The business key of the call could not be made: ${message}. Nothing was changed.` });
  }
}

export function keyOf({ request }: CallScope, argsDigest: Digest, businessKey: string | undefined): IdempotencyKey {
  const { principal, taskId, runId, occurrence, tool } = request;
  return lazyKey({ tenant: principal.tenant, taskId, runId, tool, businessKey, argsDigest, occurrence, undoes: request.undo?.seq });
}

/**
 * Notes the call in its record.
 *
 * The digest and the clear value are those of the arguments as the program gave them, for replay; the summary is of what
 * is performed, for people.
 */
function noteIssued(scope: CallScope, opened: OpenedCall, { key, summary }: { readonly key: IdempotencyKey; readonly summary?: JsonValue }): RecordedValue {
  const { seams, request, record } = scope;
  const { known, tool, issued } = opened;
  const args: RecordedValue = { digest: known.argsDigest, summary: summary ?? opened.summary, ...(isEnded(issued) ? {} : { clear: request.args }) };
  if (request.past?.issued === true) return args;
  record.add({
    kind: "call-issued",
    atMs: seams.clock.now(),
    seq: request.seq,
    callId: request.callId,
    tool: known.tool,
    definitionDigest: isEnded(tool) ? undefined : tool.definitionDigest,
    effect: known.effect,
    args,
    ...(known.effect === "read" ? {} : { idempotencyKey: key.value }),
    ...(request.occurrence === 0 ? {} : { occurrence: request.occurrence }),
    ...(request.undo === undefined ? {} : { compensates: request.undo.seq }),
  });
  return args;
}

/** Notes a call that ends before it could get a key of its own. */
export function endEarly(scope: CallScope, opened: OpenedCall, end: Ended): Ended {
  noteIssued(scope, opened, { key: keyOf(scope, opened.known.argsDigest, undefined) });
  return end;
}
