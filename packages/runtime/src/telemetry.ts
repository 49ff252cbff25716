// Door: what a gate did, in numbers.

export { createGateMetrics } from "./telemetry/gate-metrics.ts";
export type { GateMetrics, GateMetricsOptions } from "./telemetry/gate-metrics.ts";
export { conventions } from "./telemetry/conventions.ts";
export { isTraced } from "./telemetry/is-traced.ts";
export type { MetricFamily } from "./telemetry/metric-registry.ts";
