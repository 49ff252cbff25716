// Door: spans of a gate, through OpenTelemetry's API. Loaded only where the host has an SDK.

export { conventions } from "./telemetry/conventions.ts";
export { createOtelTracing, serveTraced } from "./telemetry/otel-tracing.ts";
