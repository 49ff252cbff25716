import type { GuestCall, GuestEnd, GuestOutput } from "@callgate/contract";
import { writeFrame } from "../frames/frame-splitter.ts";

/** Version of what driver and function say to each other (docs/reference/function-protocol.md). */
export const functionProtocolVersion = 1;

/** How many frames of the run the driver has heard; the answer is what comes after them. */
export const afterHeader = "callgate-after";
/** Digest of the frames that were left out, by which the driver sees that it is the same run. */
export const digestHeader = "callgate-digest";
export const frameContentType = "application/vnd.callgate.frames";

/** The frame a call is told as. */
export function callFrame(call: GuestCall): Buffer {
  switch (call.kind) {
    case "tool":
      return writeFrame({ k: "call", seq: call.seq, name: call.tool, tagged: call.args.tagged }, call.args.json);
    case "builtin":
      return writeFrame({ k: "builtin", seq: call.seq, name: call.name, tagged: call.args.tagged }, call.args.json);
    case "timer":
      return writeFrame({ k: "timer", seq: call.seq, delayMs: call.delayMs });
  }
}

/** The frames a piece of output is told as. */
export function outputFrames(output: GuestOutput): readonly Buffer[] {
  switch (output.kind) {
    case "console":
      return [writeFrame({ k: "console", level: output.entry.level }, output.entry.text)];
    case "text":
      return [writeFrame({ k: "text" }, output.text)];
    case "progress":
      return [writeFrame({ k: "progress", message: output.message, ...(output.fraction === undefined ? {} : { fraction: output.fraction }) })];
    case "artifact":
      return [writeFrame({ k: "artifact", name: output.artifact.name, mimeType: output.artifact.mimeType }, output.artifact.bytes)];
    case "console-dropped":
      return [writeFrame({ k: "omitted", bytes: output.droppedBytes })];
    // Those of the function's own host.
    case "connection":
      return [];
  }
}

/** The frame an end is told as. */
export function endFrame(end: Exclude<GuestEnd, { kind: "cancelled" }>): Buffer {
  switch (end.kind) {
    case "returned":
      return writeFrame({ k: "returned", tagged: end.value.tagged }, end.value.json);
    case "threw":
      return writeFrame({ k: "threw", error: end.error });
    case "stalled":
      return writeFrame({ k: "stalled" });
    case "limit":
      return writeFrame({ k: "limit", limit: end.limit });
    case "crashed":
      return writeFrame({ k: "crashed", message: end.message });
  }
}
