import type { JsonValue, RecordingValue, WireValue } from "@callgate/contract";

/** A value as people can review it: plain JSON, where that says all of it. */
export function recordingValue(wire: WireValue): RecordingValue {
  // In the literal of a test file the key would set a prototype.
  if (wire.tagged || wire.json.includes("__proto__")) return wire;
  return { value: JSON.parse(wire.json) as JsonValue };
}

export function wireOf(value: RecordingValue): WireValue {
  return "value" in value ? { json: JSON.stringify(value.value), tagged: false } : value;
}
