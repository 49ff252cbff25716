import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Which process this is, so that another one can tell later whether it still lives. */
export interface ProcessIdentity {
  /** Within one machine value pids mean the same: boot and pid namespace on Linux, host name elsewhere. */
  readonly machine: string;
  readonly pid: number;
  /** Start time in clock ticks since boot; tells a reused pid. Undefined where the system does not say. */
  readonly processStart: string | undefined;
}

/** An owner as the journal keeps it. */
export interface OwnerRow extends ProcessIdentity {
  /** Since it last said that it lives. */
  readonly silentMs: number;
  readonly closedAtMs: number | undefined;
}

/** An owner that cannot be looked at directly (other machine, other container) is dead when silent for this long. */
const SILENCE_MS = 60_000;

/** How often an owner with running runs says that it lives. */
export const heartbeatMs = 10_000;

export function currentProcess(): ProcessIdentity {
  return { machine: machineName(), pid: process.pid, processStart: processStart(process.pid) };
}

/** Whether the process behind `owner` can still write to the journal, as seen from `self`. */
export function ownerLives(owner: OwnerRow, self: ProcessIdentity): boolean {
  if (owner.closedAtMs !== undefined) return false;
  const isSilent = owner.silentMs > SILENCE_MS;
  if (owner.machine !== self.machine) return !isSilent;
  if (owner.pid === self.pid && owner.processStart === self.processStart) return true;
  if (!pidExists(owner.pid)) return false;
  if (owner.processStart === undefined) return !isSilent; // The pid may be reused: only the heartbeat tells.
  return processStart(owner.pid) === owner.processStart;
}

/** Whether the monotonic time of both is one: containers of one machine share it, though not its pids. */
export function sharesTime(machine: string, { machine: ours }: ProcessIdentity): boolean {
  return machine.split(" ")[0] === ours.split(" ")[0];
}

function machineName(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

function processStart(pid: number): string | undefined {
  try {
    // Field 22; the name in field 2 may hold spaces and parentheses, so count from its last ")".
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
