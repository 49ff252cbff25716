import type { Ended } from "./call.ts";
import type { ParkedCall } from "./call-past.ts";

/** Whether a stage brought the call to its end. */
export function isEnded(stage: object): stage is Ended {
  return "kind" in stage && stage.kind === "ended";
}

/** Whether a call can go on only when something happens outside. */
export function isParked(stage: object): stage is ParkedCall {
  return "kind" in stage && stage.kind === "parked";
}
