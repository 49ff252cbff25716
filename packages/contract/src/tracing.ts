import type { GateEvent } from "./gate-event.ts";
import type { TraceContext } from "./trace-context.ts";

/** Makes spans of what a gate does. Hears every event in its order; nothing it does may throw or wait. */
export interface Tracing {
  hear(event: GateEvent): void;
  /** Where whoever asks stands now; kept with a run, so that what goes on elsewhere belongs to the same trace. */
  current(): TraceContext | undefined;
  /** Does work as a part of the span of a call, or of a run: the code of a tool, the calls of an agent. */
  within<Result>(id: string, work: () => Result): Result;
  /** Where a call stands, for what its tool asks of others. */
  contextOf(callId: string): TraceContext | undefined;
}
