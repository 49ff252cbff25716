import { CallgateError } from "@callgate/contract";
import type { GuestEnd, GuestHost, GuestJob } from "@callgate/contract";
import type { GuestFrame } from "../frames/guest-frame.ts";
import type { OutputCapture } from "../output/output-capture.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";
import type { GuestCalls } from "./guest-calls.ts";
import { limitEnd } from "./guest-end.ts";
import type { StartedGuest } from "./started-guest.ts";

export interface Hearing {
  readonly job: GuestJob;
  readonly host: GuestHost;
  readonly artifacts: ArtifactBounds;
  readonly capture: OutputCapture;
  readonly calls: GuestCalls;
  readonly finish: (end: GuestEnd) => void;
}

/** What each frame of a running guest does. */
export function createHearing({ job: { limits }, host, artifacts, capture, calls, finish }: Hearing): (frame: GuestFrame) => void {
  const files = createFileBudget(artifacts);
  let textBytes = 0;
  const broken = (message: string): void => finish(brokenEnd(message));
  return (frame) => {
    switch (frame.kind) {
      case "stream":
        return capture.stream(frame.stream, frame.bytes);
      case "call":
      case "builtin":
      case "timer": {
        const call = calls.open(frame);
        if (typeof call === "string") return broken(call);
        capture.flush();
        return host.onCalls([call]);
      }
      case "blocked":
        return host.onBlocked?.(calls.taken(frame.delivered));
      case "console":
        return capture.console({ level: frame.level, text: frame.text });
      case "progress":
        return capture.progress(frame);
      case "text":
        textBytes += Buffer.byteLength(frame.text);
        return textBytes > limits.resultBytes ? finish(limitEnd("resultBytes", limits)) : host.onOutput([frame]);
      case "artifact":
        return files.add(frame) ? host.onOutput([{ kind: "artifact", artifact: { name: frame.name, mimeType: frame.mimeType, bytes: frame.bytes } }]) : broken("more files than allowed were sent");
      case "returned":
        return finish(Buffer.byteLength(frame.value.json) > limits.resultBytes ? limitEnd("resultBytes", limits) : { kind: "returned", value: frame.value });
      case "threw":
        return finish({ kind: "threw", error: frame.error });
      case "stalled":
        return finish({ kind: "stalled" });
      case "limit":
        return finish(limitEnd(frame.limit, limits));
      case "hello":
        return broken("it said hello twice");
    }
  };
}

/** What a guest may use beyond its program's memory: the interpreter, its files, its workspace. */
export function slackOf(guest: StartedGuest): number {
  const { growthMiB } = guest.language;
  return growthMiB === undefined ? guest.bounds.workspaceMiB + 96 : (guest.use()?.memoryMiB ?? 96) + growthMiB;
}

export function unstartedEnd(fault: unknown): GuestEnd {
  const missingProgram = CallgateError.is(fault) ? fault.details["missingProgram"] : undefined;
  return { kind: "crashed", message: fault instanceof Error ? fault.message : "the guest could not be started", ...(typeof missingProgram === "string" ? { missingProgram } : {}) };
}

export function brokenEnd(message: string): GuestEnd {
  return { kind: "crashed", message: `the guest broke its protocol: ${message}` };
}

/** Hands a framed guest its program. In a session memory is the session's, and CPU time is watched from outside. */
export function sendJob(guest: StartedGuest, { code, modules, seed, startMs, limits, language }: GuestJob, { artifactMiB, artifacts, session }: ArtifactBounds & { readonly session?: { readonly memoryMiB: number; readonly block: number } }): void {
  const bounds = { dataBytes: (session ?? limits).memoryMiB * 1024 * 1024, cpuSeconds: Math.ceil(limits.cpuMs / 1000), artifactBytes: artifactMiB * 1024 * 1024, artifacts };
  const { argumentBytes, resultBytes, consoleBytes } = limits;
  guest.send({ k: "job", language, modules, seed, startMs, limits: { argumentBytes, resultBytes, consoleBytes }, bounds, ...(session === undefined ? {} : { session: true, block: session.block }) }, code);
}

function createFileBudget({ artifactMiB, artifacts }: ArtifactBounds): { add(file: { readonly bytes: Buffer }): boolean } {
  let bytesLeft = artifactMiB * 1024 * 1024;
  let left = artifacts;
  return {
    add({ bytes }) {
      bytesLeft -= bytes.length;
      left -= 1;
      return bytesLeft >= 0 && left >= 0;
    },
  };
}
