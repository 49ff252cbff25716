// What a container costs as a sandbox: cold start to the first result, a program in a container that waits, a tool call;
// with calls through shared pipes and through an exec; beside `docker run` of the same image and bubblewrap. Starts an
// engine of its own, as root. Figures are medians; read the ratios. `node bench/containers.ts [docker|podman]`
import { spawnSync } from "node:child_process";
import type { SandboxDriver } from "@callgate/contract";
import { createBubblewrapLauncher, createContainerLauncher, createProcessDriver } from "@callgate/sandbox-process";
import { runSource } from "../packages/sandbox-process/src/fixtures/run-source.ts";
import { startTestEngine, whyNoEngine } from "../packages/sandbox-process/src/fixtures/test-engine.ts";
import { medianMs } from "./median.ts";

const kind = process.argv[2] === "podman" ? "podman" : "docker";
const reason = whyNoEngine(kind);
if (reason !== undefined) throw new Error(reason);

const rounds = 10;
const calls = 1_000;
const callProgram = `from tools import demo\nimport statistics, time\ntook = []\nfor i in range(${calls}):\n    start = time.perf_counter()\n    demo.echo(i=i)\n    took.append(time.perf_counter() - start)\nstatistics.median(took) * 1000`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Cold, prepared, and one call, in ms. */
async function measure(open: (warm: number) => SandboxDriver): Promise<readonly [cold: number, prepared: number, call: number]> {
  const cold = open(0);
  await runSource(cold, "1");
  const coldMs = await medianMs(rounds, () => runSource(cold, "1"));
  const { value } = await runSource(cold, callProgram, { limits: { calls: calls * 2, cpuMs: 60_000 } });
  await cold.close();
  const prepared = open(1);
  await runSource(prepared, "1");
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await pause(2_000); // The next container starts meanwhile: what is measured is the run that finds it.
    took.push(await medianMs(1, () => runSource(prepared, "1")));
  }
  await prepared.close();
  return [coldMs, took.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN, Number(value)];
}

const engine = await startTestEngine(kind);
try {
  const container = (channel: "mount" | "exec") => (warm: number) => createProcessDriver({ launcher: createContainerLauncher(kind, { engines: [engine.socketPath], image: engine.image, channel, cpus: 2 }), warm });
  const table: Record<string, object> = {};
  const bare = await medianMs(rounds, () => {
    const { status, stderr } = spawnSync("docker", ["-H", `unix://${engine.socketPath}`, "run", "--rm", "--network=none", "--read-only", engine.image, "python3", "-I", "-c", "1"], { encoding: "utf8" });
    if (kind === "docker" && status !== 0) throw new Error(stderr);
  });
  const row = ([cold, prepared, call]: readonly [number, number, number]): object => ({ "cold ms": Math.round(cold), "beside docker run": kind === "docker" ? (cold / bare).toFixed(2) : "", "waiting container, run to its end, ms": Math.round(prepared), "tool call ms": call.toFixed(3) });
  if (kind === "docker") table["docker run --rm python3 -c 1"] = { "cold ms": Math.round(bare), "beside docker run": "1.00" };
  table[`${kind}, shared pipes`] = row(await measure(container("mount")));
  table[`${kind}, exec`] = row(await measure(container("exec")));
  if ((await createBubblewrapLauncher().probe()).kind === "ready") table["bubblewrap"] = row(await measure((warm) => createProcessDriver({ launcher: createBubblewrapLauncher(), warm })));
  console.table(table);
} finally {
  await engine.close();
}
