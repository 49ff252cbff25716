import { useOf } from "@callgate/sandbox-process";
import type { ResourceUse } from "@callgate/sandbox-process";
import pidusage from "pidusage";

/** What one process uses, as last seen. */
export interface MemoryWatch {
  use(): ResourceUse | undefined;
  stop(): void;
}

const everyMs = 100;

/** Linux: read from /proc when asked. Elsewhere: asked of the operating system (`ps`, or PowerShell) ten times a second. */
export function watchProcess(pid: number, platform: string = process.platform): MemoryWatch {
  if (platform === "linux") return { use: () => useOf([pid]), stop: () => undefined };
  let last: ResourceUse | undefined;
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    pidusage(pid).then(
      ({ ctime, memory }) => {
        last = { cpuMs: ctime, memoryMiB: memory / 1024 / 1024 };
        isBusy = false;
      },
      () => {
        isBusy = false; // It ended meanwhile.
      },
    );
  }, everyMs);
  timer.unref();
  return {
    use: () => last,
    stop() {
      clearInterval(timer);
      pidusage.clear();
    },
  };
}
