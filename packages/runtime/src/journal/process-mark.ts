import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { currentProcess, ownerLives } from "./process-identity.ts";
import type { OwnerRow, ProcessIdentity } from "./process-identity.ts";

/**
 * Makes a file that says that this process is at something of which one process at a time may be. False where another one
 * is; a mark that a process left behind when it was killed is taken over, by one of all who try. Whoever has it removes it.
 */
export function takeMark(mark: string, nowMs: number): boolean {
  if (make(mark, nowMs)) return true;
  const owner = ownerOf(mark, nowMs);
  if (owner !== undefined && ownerLives(owner, currentProcess())) return false;
  const left = `${mark}-${randomUUID()}`;
  try {
    renameSync(mark, left);
  } catch {
    return false; // Another one took it over, or its owner is done.
  }
  try {
    // Another one may have taken it over before us: then this mark is its own, and goes back.
    const taken = ownerOf(left, nowMs);
    if (taken === undefined || !ownerLives(taken, currentProcess())) return make(mark, nowMs);
    linkSync(left, mark);
    return false;
  } catch {
    return false;
  } finally {
    rmSync(left, { force: true });
  }
}

function make(mark: string, nowMs: number): boolean {
  try {
    writeFileSync(mark, JSON.stringify({ ...currentProcess(), heartbeatAtMs: nowMs }), { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

/** Of a mark that nobody has finished writing, only its age is known. */
function ownerOf(mark: string, nowMs: number): OwnerRow | undefined {
  try {
    const { mtimeMs } = statSync(mark);
    const said = parse(readFileSync(mark, "utf8"));
    if (said === undefined) return { machine: "", pid: 0, processStart: undefined, silentMs: nowMs - mtimeMs, closedAtMs: undefined };
    const { heartbeatAtMs, ...who } = said;
    return { ...who, silentMs: nowMs - heartbeatAtMs, closedAtMs: undefined };
  } catch {
    return undefined; // It is gone.
  }
}

function parse(text: string): (ProcessIdentity & { readonly heartbeatAtMs: number }) | undefined {
  try {
    const { machine, pid, processStart, heartbeatAtMs } = JSON.parse(text) as Partial<ProcessIdentity & { heartbeatAtMs: number }>;
    return typeof machine === "string" && typeof pid === "number" && typeof heartbeatAtMs === "number" ? { machine, pid, processStart, heartbeatAtMs } : undefined;
  } catch {
    return undefined;
  }
}
