import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Context, Span } from "@opentelemetry/api";
import type { GateEvent, Principal, TraceContext, Tracing } from "@callgate/contract";
import { conventions } from "./conventions.ts";

const { attributes: a, spans, events } = conventions;

/** Open spans kept at most; of more, the oldest is ended as it stands. Runs and calls tell their ends, so this is a stop-gap. */
const maxOpen = 50_000;

type Event<Kind extends GateEvent["kind"]> = Extract<GateEvent, { kind: Kind }>;
type Handlers = { readonly [Kind in GateEvent["kind"]]?: (event: Event<Kind>) => void };

/**
 * Spans through the OpenTelemetry API, for whichever SDK the host has registered. A run is a span, and each of its calls one
 * below it; a run that goes on elsewhere is a second span of the same trace. They hold names and codes, never an argument, a
 * result or the text of an error.
 */
export function createOtelTracing(): Tracing {
  const open = createOpenSpans();
  const handlers: Handlers = { ...runHandlers(open), ...callHandlers(open) };
  return {
    hear: (event) => (handlers[event.kind] as ((event: GateEvent) => void) | undefined)?.(event),
    current: () => carried(context.active()),
    within: (id, work) => context.with(open.at(id) ?? context.active(), work),
    contextOf: (callId) => carried(open.at(callId)),
  };
}

function runHandlers(open: OpenSpans): Handlers {
  /** Calls that have not ended end with a run that is given up. */
  const endRun = ({ runId, atMs }: Event<"run-ended" | "run-suspended">, status: string, error?: string): void => {
    for (const key of open.below(runId)) open.end(key, { atMs, attributes: { [a.runStatus]: status } });
    open.end(runId, { atMs, attributes: { [a.runStatus]: status }, error });
  };
  return {
    "run-started": ({ runId, runKind, principal, trace: given, atMs }) => open.begin(runId, spans.run, { atMs, parent: parentOf(given), attributes: { ...whose(principal), [a.runId]: runId, [a.runKind]: runKind } }),
    "run-resumed": ({ runId, epoch, principal, trace: given, atMs }) => open.begin(runId, spans.run, { atMs, parent: remote(given), attributes: { ...whose(principal), [a.runId]: runId, [a.runEpoch]: epoch } }),
    "run-checked": ({ runId, ok, atMs }) => open.note(runId, events.checked, { attributes: { ok }, atMs }),
    "run-suspended": (event) => endRun(event, "suspended"),
    "run-ended": (event) => endRun(event, event.status, event.status === "completed" ? undefined : event.status),
  };
}

function callHandlers(open: OpenSpans): Handlers {
  return {
    "call-requested": ({ runId, callId, tool, effect, principal, atMs }) =>
      open.begin(callId, spans.tool(tool), { atMs, parent: open.at(runId) ?? context.active(), of: runId, attributes: { ...whose(principal), [a.operation]: conventions.toolOperation, [a.toolType]: conventions.toolType, [a.tool]: tool, [a.callId]: callId, [a.runId]: runId, [a.effect]: effect } }),
    "call-decided": ({ callId, decision, ruleId }) => open.set(callId, { [a.decision]: decision, [a.ruleId]: ruleId }),
    "call-started": ({ callId, attempt, atMs }) => (attempt === 1 ? undefined : open.note(callId, events.attempt, { attributes: { [a.attempt]: attempt }, atMs })),
    "approval-asked": ({ callId, question: { ruleId }, atMs }) => open.note(callId, events.asked, { attributes: { [a.ruleId]: ruleId }, atMs }),
    "approval-answered": ({ callId, approved, atMs }) => open.note(callId, events.answered, { attributes: { approved }, atMs }),
    "call-late": ({ callId, effectStatus, atMs }) => open.note(callId, events.late, { attributes: { [a.effectStatus]: effectStatus }, atMs }),
    "call-ended": ({ callId, outcome, effectStatus, cached, error, atMs }) => open.end(callId, { atMs, attributes: { [a.outcome]: outcome, [a.effectStatus]: effectStatus, ...(cached === true ? { [a.cached]: true } : {}) }, error: error?.code }),
  };
}

interface Begin {
  readonly attributes: Attributes;
  readonly atMs: number;
  readonly parent: Context;
  /** The run of a call. */
  readonly of?: string;
}

interface End {
  readonly attributes: Attributes;
  readonly atMs: number;
  /** What went wrong, as a code. */
  readonly error?: string | undefined;
}

/** Spans by the id of their run or call. What is not open is left alone. */
interface OpenSpans {
  begin(key: string, name: string, begin: Begin): void;
  at(key: string): Context | undefined;
  below(runId: string): readonly string[];
  set(key: string, attributes: Attributes): void;
  note(key: string, name: string, note: { readonly attributes: Attributes; readonly atMs: number }): void;
  end(key: string, end: End): void;
}

function createOpenSpans(): OpenSpans {
  const tracer = trace.getTracer(conventions.scope.name);
  const open = new Map<string, { readonly span: Span; readonly at: Context; readonly of: string | undefined }>();
  const calls = new Map<string, Set<string>>();
  const made: OpenSpans = {
    begin(key, name, { attributes, atMs, parent, of }) {
      const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes, startTime: atMs }, parent);
      open.set(key, { span, at: trace.setSpan(parent, span), of });
      if (of !== undefined) calls.set(of, (calls.get(of) ?? new Set()).add(key));
      const [oldest] = open.size > maxOpen ? open.keys() : [];
      if (oldest !== undefined) made.end(oldest, { atMs, attributes: {} });
    },
    at: (key) => open.get(key)?.at,
    below: (runId) => [...(calls.get(runId) ?? [])],
    set: (key, attributes) => void open.get(key)?.span.setAttributes(attributes),
    note: (key, name, { attributes, atMs }) => void open.get(key)?.span.addEvent(name, attributes, atMs),
    end(key, { atMs, attributes, error }) {
      const found = open.get(key);
      if (found === undefined) return;
      open.delete(key);
      calls.delete(key);
      if (found.of !== undefined) calls.get(found.of)?.delete(key);
      found.span.setAttributes(attributes);
      if (error !== undefined) found.span.setAttribute(a.errorType, error).setStatus({ code: SpanStatusCode.ERROR });
      found.span.end(atMs);
    },
  };
  return made;
}

/**
 * Serves one MCP request as a span of its own, below what its client sent along in `_meta`.
 *
 * @param meta the request's `_meta`
 */
export async function serveTraced<Result>({ method, target, meta }: { readonly method: string; readonly target: string; readonly meta: unknown }, work: () => Promise<Result>): Promise<Result> {
  const parent = typeof meta === "object" && meta !== null ? propagation.extract(context.active(), meta as Record<string, unknown>) : context.active();
  const span = trace.getTracer(conventions.scope.name).startSpan(spans.request(method, target), { kind: SpanKind.SERVER, attributes: { [a.method]: method, [a.tool]: target } }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (fault) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw fault;
  } finally {
    span.end();
  }
}

function whose({ tenant, user, agent }: Principal): Attributes {
  return { [a.tenant]: tenant, [a.user]: user, ...(agent === undefined ? {} : { [a.agent]: agent }) };
}

/** Who asks here and now; where nobody is known, what was sent along. */
function parentOf(given: TraceContext | undefined): Context {
  return trace.getSpan(context.active()) === undefined ? remote(given) : context.active();
}

function remote(given: TraceContext | undefined): Context {
  return given === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { ...given });
}

function carried(from: Context | undefined): TraceContext | undefined {
  if (from === undefined) return undefined;
  const carrier: Record<string, string> = {};
  propagation.inject(from, carrier);
  const { traceparent, tracestate } = carrier;
  return traceparent === undefined ? undefined : { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}
