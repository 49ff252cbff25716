/** Where OpenTelemetry's API keeps what an SDK has registered, from its first version on. */
const registry = Symbol.for("opentelemetry.js.api.1");

/** Whether the host has an OpenTelemetry SDK. Without one its API is not even loaded. */
export function isTraced(): boolean {
  const registered: unknown = Reflect.get(globalThis, registry);
  return typeof registered === "object" && registered !== null && "trace" in registered;
}
