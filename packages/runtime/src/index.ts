// Door: the gate. It is put together from parts by whoever composes it (packages/callgate).

export { createGate } from "./run/gate.ts";
export type { GateDefaults, GateOptions, GateSource } from "./run/gate-options.ts";
export { linkedAbort } from "./lib/linked-abort.ts";
export { race } from "./lib/race.ts";
export { createSlots } from "./lib/slots.ts";
export { systemClock } from "./lib/system-clock.ts";
export type { RandomBytes } from "./lib/new-id.ts";
export { waitedMs } from "./run/waited-time.ts";
export { waitSubject, waitText } from "./run/waits-text.ts";
export { diagnosticText, errorText, runReport } from "./result/report.ts";
export { modelView } from "./result/model-view.ts";
export { createLazyTokenCounter } from "./result/token-counter.ts";
export type { TokenCounter } from "./result/token-counter.ts";
export { reachText } from "./run/program-reach.ts";
export { approvedVersionText } from "./run/approved-version.ts";
export { textDiff } from "./lib/text-diff.ts";
export type { TextDiff } from "./lib/text-diff.ts";
