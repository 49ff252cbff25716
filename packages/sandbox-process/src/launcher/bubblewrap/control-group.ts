import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResourceUse } from "../launcher.ts";

/** What all processes of a guest may use together. */
export interface GroupBounds {
  readonly memoryMiB: number;
  readonly processes: number;
}

/** A control group for one guest. */
export interface ControlGroup {
  /** Puts a process, and what it starts from then on, under the bounds. The kernel takes up to 25 ms for it (version 1). */
  add(pid: number): Promise<void>;
  use(): ResourceUse | undefined;
  /** True when the kernel ended a process of the group for memory. */
  ranOutOfMemory(): boolean;
  /** Removes the group. Its processes must be gone. */
  remove(): void;
}

export interface ControlGroups {
  /** Which version is used, for people. */
  readonly version: "v1" | "v2";
  create(name: string, bounds: GroupBounds): ControlGroup | undefined;
}

const root = "/sys/fs/cgroup";
const mebibyte = 1024 * 1024;

/** Finds out whether this user may make control groups, in either version. Undefined when not. */
export function findControlGroups(): ControlGroups | undefined {
  const v2 = ownV2Folder();
  if (v2 !== undefined) return { version: "v2", create: (name, bounds) => createV2(join(v2, name), bounds) };
  const v1 = ["memory", "pids", "cpuacct"].map((controller) => join(root, controller));
  return v1.every(isWritable) ? { version: "v1", create: (name, bounds) => createV1(name, bounds) } : undefined;
}

/** The v2 group of this process, where it was delegated to us with the controllers we need. */
function ownV2Folder(): string | undefined {
  const own = /^0::(.*)$/m.exec(read("/proc/self/cgroup") ?? "")?.[1];
  if (own === undefined || !existsSync(join(root, "cgroup.controllers"))) return undefined;
  const folder = join(root, own);
  const controllers = (read(join(folder, "cgroup.subtree_control")) ?? "").trim().split(" ");
  return controllers.includes("memory") && controllers.includes("pids") && isWritable(folder) ? folder : undefined;
}

function createV2(folder: string, bounds: GroupBounds): ControlGroup | undefined {
  const group = make([folder], () => {
    write(join(folder, "memory.max"), bounds.memoryMiB * mebibyte);
    tryWrite(join(folder, "memory.swap.max"), 0);
    tryWrite(join(folder, "memory.oom.group"), 1);
    write(join(folder, "pids.max"), bounds.processes);
  });
  return group && {
    ...group,
    use: () => groupUseV2(folder),
    ranOutOfMemory: () => /^oom_kill [1-9]/m.test(read(join(folder, "memory.events")) ?? ""),
  };
}

function createV1(name: string, bounds: GroupBounds): ControlGroup | undefined {
  const folder = (controller: string): string => join(root, controller, name);
  const group = make(["memory", "pids", "cpuacct"].map(folder), () => {
    write(join(folder("memory"), "memory.limit_in_bytes"), bounds.memoryMiB * mebibyte);
    tryWrite(join(folder("memory"), "memory.memsw.limit_in_bytes"), bounds.memoryMiB * mebibyte);
    write(join(folder("pids"), "pids.max"), bounds.processes);
  });
  return group && {
    ...group,
    use: () => groupUseV1(folder),
    ranOutOfMemory: () => /^oom_kill [1-9]/m.test(read(join(folder("memory"), "memory.oom_control")) ?? ""),
  };
}

/** What a v2 group used so far. Undefined when it is gone. */
export function groupUseV2(folder: string): ResourceUse | undefined {
  const cpu = /^usage_usec (\d+)/m.exec(read(join(folder, "cpu.stat")) ?? "")?.[1];
  return cpu === undefined ? undefined : { cpuMs: Number(cpu) / 1_000, memoryMiB: Number(read(join(folder, "memory.current")) ?? 0) / mebibyte };
}

/** The same of v1, whose controllers each have a folder. */
export function groupUseV1(folder: (controller: string) => string): ResourceUse | undefined {
  const cpu = read(join(folder("cpuacct"), "cpuacct.usage"));
  return cpu === undefined ? undefined : { cpuMs: Number(cpu) / 1_000_000, memoryMiB: Number(read(join(folder("memory"), "memory.usage_in_bytes")) ?? 0) / mebibyte };
}

function make(folders: readonly string[], bound: () => void): Pick<ControlGroup, "add" | "remove"> | undefined {
  const remove = (): void => folders.forEach(tryRemove);
  try {
    for (const folder of folders) mkdirSync(folder);
    bound();
  } catch {
    remove();
    return undefined;
  }
  return {
    async add(pid) {
      for (const folder of folders) await writeFile(join(folder, "cgroup.procs"), `${pid}`);
    },
    remove,
  };
}

/** Takes away what an earlier process of ours left behind when it was killed: groups named for a pid that is gone. */
export function removeStaleGroups(prefix: string, isAlive: (pid: number) => boolean): void {
  for (const folder of [ownV2Folder(), ...["memory", "pids", "cpuacct"].map((controller) => join(root, controller))]) {
    if (folder === undefined || !existsSync(folder)) continue;
    for (const name of readdirSync(folder)) {
      const owner = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : Number.NaN;
      if (Number.isInteger(owner) && !isAlive(owner)) tryRemove(join(folder, name));
    }
  }
}

function tryRemove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {} // Not there, or the kernel is not done with its processes yet.
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}

function write(file: string, value: number): void {
  writeFileSync(file, `${value}`);
}

/** For what not every kernel has, such as accounting of swap. */
function tryWrite(file: string, value: number): void {
  try {
    write(file, value);
  } catch {}
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
