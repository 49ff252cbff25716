import { readFileSync } from "node:fs";
import { groupUseV1, groupUseV2 } from "../bubblewrap/control-group.ts";
import type { ResourceUse } from "../launcher.ts";
import { readProcessStat } from "../process-stat.ts";
import { processTree } from "../process-tree.ts";

/** A container whose first process is one of this machine: seen and ended without asking its engine. */
export interface LocalContainer {
  use(): ResourceUse | undefined;
  /** True when its first process is dead. The kernel ends every other one of its pid namespace before that can be seen. */
  isDead(): boolean;
  /** False when this user may not, or it is dead. */
  kill(): boolean;
  /** SIGINT to all but its first process. False when this user may not. */
  interrupt(): boolean;
}

/** Undefined when `pid` is no process of this machine that belongs to the container: the engine is elsewhere, or in a VM. */
export function findLocalContainer(pid: number, containerId: string): LocalContainer | undefined {
  const groups = read(`/proc/${pid}/cgroup`);
  const born = readProcessStat(pid)?.born;
  if (groups?.includes(containerId) !== true || born === undefined) return undefined;
  const isDead = (): boolean => {
    const now = readProcessStat(pid);
    return now === undefined || now.born !== born || now.isDead;
  };
  const signal = (target: number | undefined, name: NodeJS.Signals): boolean => {
    if (target === undefined || isDead()) return false;
    try {
      return process.kill(target, name);
    } catch {
      return false;
    }
  };
  return {
    use: () => (isDead() ? undefined : useOf(groups)),
    isDead,
    kill: () => signal(pid, "SIGKILL"),
    interrupt: () => processTree(pid).slice(1).map((target) => signal(target, "SIGINT")).some((sent) => sent),
  };
}

function useOf(groups: string): ResourceUse | undefined {
  const of = (controller: string): string | undefined => new RegExp(String.raw`^\d+:(?:[\w,=]+,)?${controller}(?:,[\w,=]+)?:(.*)$`, "m").exec(groups)?.[1];
  const cpuacct = of("cpuacct");
  if (cpuacct !== undefined) return groupUseV1((controller) => `/sys/fs/cgroup/${controller}${of(controller) ?? cpuacct}`);
  const unified = /^0::(.*)$/m.exec(groups)?.[1];
  return unified === undefined ? undefined : groupUseV2(`/sys/fs/cgroup${unified}`);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}

/** This process, in words that stay true only while it lives: machine, boot, pid, time of birth. */
export function ownerMark(machine: string): string {
  return [machine, read("/proc/sys/kernel/random/boot_id")?.trim() ?? "", process.pid, readProcessStat(process.pid)?.born ?? ""].join("/");
}

/** True when the process that made something is known to be gone. Of another machine's nothing is known. */
export function isOrphan(mark: string, machine: string): boolean {
  const [host, boot, pid, born] = mark.split("/");
  if (host !== machine || pid === undefined) return false;
  const now = read("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
  return boot !== now || readProcessStat(Number(pid))?.born !== born;
}
