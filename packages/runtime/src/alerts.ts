// Door: what of a gate, or of a journal, a person should look at.

export { defaultAlertRules } from "./telemetry/alerts/alert-rules.ts";
export type { Alert, AlertKind, AlertRule } from "./telemetry/alerts/alert-rules.ts";
export { watchGate, watchJournal } from "./telemetry/alerts/watch-gate.ts";
export type { Watch, WatchOptions } from "./telemetry/alerts/watch-gate.ts";
