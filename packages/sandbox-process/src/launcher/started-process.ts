import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { CallgateError } from "@callgate/contract";
import type { GuestExit, LaunchedGuest } from "./launcher.ts";

/** The streams of a child started with five pipes. What can no longer be written is nobody's error: the end tells. */
export function streamsOf(child: ChildProcess): Pick<LaunchedGuest, "stdout" | "stderr" | "frames" | "commands"> {
  const streams = { stdout: child.stdio[1] as Readable, stderr: child.stdio[2] as Readable, commands: child.stdio[3] as Writable, frames: child.stdio[4] as Readable };
  for (const stream of Object.values(streams)) stream.on("error", () => undefined);
  return streams;
}

/** Throws when the operating system refused to start the child (its `error` event comes too late for a caller). */
export function whenStarted(child: ChildProcess, program: string): void {
  if (child.pid !== undefined) return;
  child.once("error", () => undefined);
  throw new CallgateError("DRIVER_FAILED", `Cannot start ${program}: it is not installed, or not executable for this user`, { details: { missingProgram: program } });
}

/** How something ended whose exit code may be a shell's: that says 128 and the number of the signal that ended a program. */
export function exitOf(code: number | null, signal?: NodeJS.Signals | null): Pick<GuestExit, "code" | "signal"> {
  if (code === null) return { code: undefined, signal: signal ?? "SIGKILL" };
  const name = code > 128 ? Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] : undefined;
  return name === undefined ? { code, signal: undefined } : { code: undefined, signal: name };
}
