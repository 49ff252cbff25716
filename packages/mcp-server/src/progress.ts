import type { Gate, GateEvent, Principal } from "@callgate/contract";
import type { ProgressToken, ServerContext } from "@modelcontextprotocol/server";

export interface ProgressOptions {
  readonly gate: Gate;
  /** The very object given to the gate: events of this request carry it. */
  readonly principal: Principal;
  readonly context: ServerContext;
  /** Longest silence. Clients give up on a quiet server (some after a minute), so something is said at least this often. */
  readonly everyMs: number;
}

/** Events are passed on at most this often. */
const AT_MOST_EVERY_MS = 250;

/**
 * Reports progress of one request until `stop` is called: events of its run as they come, and a sign of life in between.
 * A client that gave no progress token is told nothing. A notification that cannot be sent is dropped: the client is gone.
 */
export function startProgress({ gate, principal, context, everyMs }: ProgressOptions): { stop(): void } {
  const token: ProgressToken | undefined = context.mcpReq._meta?.progressToken;
  if (token === undefined) return { stop: () => undefined };
  const startMs = performance.now();
  let sentMs = -Infinity;
  let progress = 0;
  let callsEnded = 0;
  let last = "working";

  const send = (message: string): void => {
    sentMs = performance.now();
    progress++;
    context.mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, progress, message } }).catch(() => undefined);
  };
  const unsubscribe = gate.onEvent((event) => {
    if (!("principal" in event) || event.principal !== principal) return;
    if (event.kind === "call-ended") callsEnded++;
    const message = eventMessage(event);
    if (message === undefined) return;
    last = message;
    if (performance.now() - sentMs >= AT_MOST_EVERY_MS || event.kind === "approval-asked") send(message);
  });
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startMs) / 1000);
    if (performance.now() - sentMs >= everyMs / 2) send(`${last} (${seconds} s, ${callsEnded} calls done)`);
  }, everyMs / 2);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      unsubscribe();
    },
  };
}

function eventMessage(event: GateEvent): string | undefined {
  switch (event.kind) {
    case "run-progressed":
      return event.message;
    case "call-started":
      return `${event.tool} …`;
    case "call-progressed":
      return `${event.tool}: ${event.message}`;
    case "call-waiting":
      return event.waits ? `${event.tool} asks a person` : `${event.tool} …`;
    case "call-ended":
      return `${event.tool}: ${event.outcome}`;
    case "approval-asked":
      return `${event.tool} waits for a person's approval`;
    case "run-started":
    case "run-checked":
    case "run-printed":
    case "run-connected":
    case "run-suspended":
    case "run-resumed":
    case "run-fenced":
    case "call-resolved":
    case "approval-refused":
    case "run-ended":
    case "call-requested":
    case "call-decided":
    case "grant-used":
    case "call-intercepted":
    case "approval-answered":
    case "call-late":
    case "source-changed":
    case "circuit-changed":
    case "catalog-changed":
    case "journal-degraded":
      return undefined;
  }
}
