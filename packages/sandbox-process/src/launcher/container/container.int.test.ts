import { fork } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { isWholeRun, processesNamed } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkWalls } from "../../doctor/check-walls.ts";
import { createProcessDriver } from "../../driver.ts";
import { runSource, startSource } from "../../fixtures/run-source.ts";
import { importImage, rootArchive, startTestEngine, whyNoEngine } from "../../fixtures/test-engine.ts";
import type { TestEngine } from "../../fixtures/test-engine.ts";
import type { Launcher } from "../launcher.ts";
import { createContainerLauncher } from "./container-launcher.ts";
import type { ContainerOptions } from "./container-options.ts";
import { channelFolderPrefix } from "./orphans.ts";

const bounds = { memoryMiB: 64, processes: 32, workspaceMiB: 8, workspaceFiles: 256, openFiles: 64 };
const shell = { environment: {}, bounds, mounts: [] } as const;

for (const kind of ["docker", "podman"] as const) {
  const skip = whyNoEngine(kind);
  // Podman is five times as slow with each of its containers: what does not depend on the engine is tried in it by whole runs only.
  const elsewhere = test.skipIf(kind === "podman" && !isWholeRun);
  describe.skipIf(skip !== undefined)(`createContainerLauncher, ${kind}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    let engine: TestEngine;
    const made: Launcher[] = [];
    const launcherWith = (options: ContainerOptions = {}): Launcher => {
      const launcher = createContainerLauncher(kind, { engines: [engine.socketPath], image: engine.image, ...options });
      made.push(launcher);
      return launcher;
    };
    const ready = async (options: ContainerOptions = {}): Promise<Launcher> => {
      const launcher = launcherWith(options);
      expect(await launcher.probe()).toMatchObject({ kind: "ready" });
      return launcher;
    };
    const left = async (): Promise<unknown> => {
      const volumes = (await engine.client.call("GET", "/volumes")) as { readonly Volumes?: readonly unknown[] | null };
      return [await engine.client.call("GET", "/containers/json", { query: { all: "1" } }), volumes.Volumes ?? [], readdirSync(tmpdir()).filter((name) => name.startsWith(`${channelFolderPrefix}${process.pid}-`))];
    };
    beforeAll(async () => {
      engine = await startTestEngine(kind, kind === "docker" ? ["--label", "zone=eu"] : []);
    }, 240_000);
    afterAll(async () => {
      for (const launcher of made) await launcher.close?.();
      await engine.close();
    }, 240_000);

    elsewhere("every wall holds from inside, and nothing is left of the guests that tried", async () => {
      const launcher = await ready();
      expect((await checkWalls(launcher)).filter(({ state }) => state !== "holds")).toEqual([]);
      await launcher.close?.();
      expect(await left()).toEqual([[], [], []]);
    }, 240_000);

    test.each(kind === "docker" || isWholeRun ? (["mount", "exec"] as const) : (["mount"] as const))("programs run, call tools and end as they should with frames by %s", async (channel) => {
      const driver = createProcessDriver({ launcher: await ready({ channel }), warm: 0 });
      const python = await runSource(driver, "from tools import demo\nprint('hi')\nopen('out/a.txt', 'w').write('x' * 200_000)\n[demo.echo(i=i)['i'] for i in range(50)]");
      expect([python.end.kind, python.out, (python.value as number[]).length]).toEqual(["returned", "hi", 50]);
      expect(python.outputs.some((output) => output.kind === "artifact" && output.artifact.bytes.length === 200_000)).toBe(true);
      const script = await runSource(driver, "echo out; echo err >/dev/stderr; id -u; exit 3", { language: "shell" });
      expect([script.out, script.err]).toEqual(["out\n65534", "err"]);
      expect(script.end).toMatchObject({ kind: "threw", error: { code: "EXIT_CODE", message: expect.stringContaining("3") } });
      expect((await runSource(driver, "import os\nprint('before')\nos.abort()"))).toMatchObject({ out: "before", end: { kind: "crashed", signal: "SIGABRT" } });
      expect((await runSource(driver, "import os\nos._exit(7)")).end).toMatchObject({ kind: "threw", error: { code: "EXIT_CODE" } });
      await driver.close();
      expect(await left()).toEqual([[], [], []]);
    }, 240_000);

    elsewhere("memory is bounded for all processes together, swap too, and the end says so", async () => {
      const launcher = await ready();
      const guest = launcher.launch({ ...shell, command: ["/bin/sh", "-c", "for i in 1 2 3 4; do (head -c 50m /dev/zero | tail -c 50m >/dev/null) & done; wait; for i in 1 2 3 4 5 6 7 8; do (python3 -c 'import time; x = bytearray(50 << 20); x[::4096] = b\"1\" * len(x[::4096]); time.sleep(2)') & done; wait; exit 9"] });
      const [exit, memory] = await Promise.all([guest.exited, peakMemory(guest)]);
      expect(memory).toBeLessThan(64 + 8 + 64 + 1);
      expect(exit).toMatchObject({ code: 9, outOfMemory: true });
      const driver = createProcessDriver({ launcher, warm: 0 });
      expect((await runSource(driver, "kept = []\nimport os\nfor i in range(8):\n    if os.fork() == 0:\n        x = bytearray(60 << 20)\n        x[::4096] = b'1' * len(x[::4096])\n        os.kill(os.getppid(), 0)\n        os.pause() if hasattr(os, 'pause') else __import__('signal').pause()\n__import__('signal').pause()", { limits: { memoryMiB: 64 } })).end).toMatchObject({ kind: "limit", limit: "memoryMiB" });
      await driver.close();
      await launcher.close?.();
    }, 240_000);

    test("killed is dead at once: TERM-proof, double-forked and stopped processes too", async () => {
      const driver = createProcessDriver({ launcher: await ready(), warm: 0 });
      const { run, done, said } = startSource(driver, "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('partial', flush=True)\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: os.execvp('sleep', ['sleep', '6161'])\n    os._exit(0)\nos.kill(os.getpid(), signal.SIGSTOP)");
      await said;
      run.cancel();
      const { end, out } = await done;
      expect([end.kind, out]).toEqual(["cancelled", "partial"]);
      expect(processesNamed("sleep\u00006161")).toEqual([]);
      await driver.close();
    }, 240_000);

    elsewhere("a guest that is killed before it was made is never started", async () => {
      const launcher = await ready();
      const guest = launcher.launch({ ...shell, command: ["/bin/sh", "-c", "echo started"] });
      guest.kill();
      const [out, exit] = await Promise.all([text(guest.stdout), guest.exited]);
      expect([out, exit.signal]).toEqual(["", "SIGKILL"]);
      await launcher.close?.();
      expect(await left()).toEqual([[], [], []]);
    }, 240_000);

    elsewhere("what a process that was killed left behind is removed at the next start, what lives is not", async () => {
      const living = await ready();
      const mine = living.launch({ ...shell, command: ["sleep", "600"] });
      const child = fork(new URL("../../fixtures/orphan-maker.ts", import.meta.url), [kind, engine.socketPath, engine.image], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
      const before = await new Promise<{ readonly folder: string }>((resolve) => child.once("message", (message) => resolve(message as { readonly folder: string })));
      expect(existsSync(before.folder)).toBe(true);
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
      const names = async (): Promise<string[]> => ((await engine.client.call("GET", "/containers/json", { query: { all: "1" } })) as readonly { readonly Names: readonly string[] }[]).map(({ Names: [name = ""] }) => name);
      expect(await names()).toHaveLength(2);
      const next = await ready();
      await next.close?.();
      expect((await names()).map((name) => name.includes(`-${process.pid}-`))).toEqual([true]);
      expect(existsSync(before.folder)).toBe(false);
      mine.kill();
      await mine.exited;
      await living.close?.();
    }, 240_000);

    elsewhere("a tag is resolved once and said; a pinned image is not; one that is not there is refused with what to do", async () => {
      await engine.client.call("POST", `/images/${engine.image}/tag`, { query: { repo: "localhost/callgate-try", tag: "one" } });
      expect(await launcherWith({ image: "localhost/callgate-try:one" }).probe()).toMatchObject({ kind: "ready", missing: [expect.stringContaining(engine.image)] });
      expect(await launcherWith().probe()).toEqual({ kind: "ready", missing: [] });
      expect(await launcherWith({ image: "localhost/nowhere:1" }).probe()).toMatchObject({ kind: "unavailable", reason: expect.stringContaining("localhost/nowhere:1"), fix: expect.stringContaining("images build") });
      const withVolume = await importImage(engine.client, rootArchive(), ["VOLUME /data"]);
      expect(await launcherWith({ image: withVolume }).probe()).toMatchObject({ kind: "unavailable", reason: expect.stringContaining("/data") });
    }, 240_000);

    elsewhere("labels, runtime and graphics processors choose an engine; what it does not have is said", async () => {
      expect(await launcherWith({ labels: { zone: "mars" } }).probe()).toMatchObject({ kind: "unavailable", reason: expect.stringContaining("zone=mars") });
      expect(await launcherWith({ runtime: "no-such-runtime" }).probe()).toMatchObject({ kind: "unavailable", reason: expect.stringContaining(kind === "docker" ? "no-such-runtime" : "runc") });
      expect(await launcherWith({ gpus: "all" }).probe()).toMatchObject({ kind: "unavailable" });
      await (await ready({ runtime: "runc" })).close?.();
      if (kind === "docker") await ready({ engines: ["/nowhere/docker.sock", engine.socketPath], labels: { zone: "eu" } });
      expect(await createContainerLauncher(kind === "docker" ? "podman" : "docker", { engines: [engine.socketPath] }).probe()).toMatchObject({ kind: "unavailable", reason: expect.stringContaining(kind) });
    }, 240_000);

    elsewhere("an engine that goes away is a run that crashed and says so", async () => {
      const other = await startTestEngine(kind);
      const launcher = createContainerLauncher(kind, { engines: [other.socketPath], image: other.image });
      expect(await launcher.probe()).toMatchObject({ kind: "ready" });
      await other.close();
      const driver = createProcessDriver({ launcher, warm: 0 });
      expect((await runSource(driver, "1")).end).toMatchObject({ kind: "crashed", message: expect.stringContaining("does not answer") });
      await driver.close();
    }, 240_000);

    elsewhere("the way out is the host's proxy and nothing else, where folders are shared; elsewhere it is refused", async () => {
      const server = createHttpServer((_request, response) => response.end("from the host")).listen(0, "127.0.0.1");
      await new Promise((resolve) => server.once("listening", resolve));
      const { port } = server.address() as AddressInfo;
      const network = { allow: [`127.0.0.1:${port}`], unsafeRanges: ["127.0.0.1/32"] };
      try {
        const driver = createProcessDriver({ launcher: await ready(), warm: 0, network });
        const fetch = `import urllib.request\nurllib.request.urlopen('http://127.0.0.1:${port}/').read().decode()`;
        expect((await runSource(driver, fetch)).end).toMatchObject({ kind: "returned", value: { json: '"from the host"' } });
        expect((await runSource(driver, fetch.replace(`${port}`, `${port - 1}`))).end).toMatchObject({ kind: "threw" });
        expect((await runSource(driver, `import socket\nsocket.create_connection(('127.0.0.1', ${port}), 2)`)).end).toMatchObject({ kind: "threw" });
        await driver.close();
        const far = createProcessDriver({ launcher: await ready({ channel: "exec" }), warm: 0, network });
        expect((await runSource(far, "1")).end).toMatchObject({ kind: "crashed", message: expect.stringContaining("Remove sandbox.network") });
        await far.close();
      } finally {
        server.close();
      }
    }, 240_000);

    elsewhere("mounts show a folder, and no way to the engine or another process's socket", async () => {
      const launcher = await ready();
      const folder = mkdtempSync(join(tmpdir(), "callgate-mount-"));
      const server = createServer().listen(join(folder, "a.sock"));
      try {
        chmodSync(folder, 0o755);
        writeFileSync(join(folder, "data.txt"), "data");
        const guest = launcher.launch({ ...shell, mounts: [{ host: folder, guest: "/data", mode: "ro" }], command: ["/bin/sh", "-c", "cat /data/data.txt; (: >/data/new) 2>/dev/null || echo closed"] });
        expect(await text(guest.stdout)).toBe("dataclosed\n");
        await guest.exited;
        for (const host of [engine.socketPath, join(engine.socketPath, ".."), "/", "/var/run", "/proc", join(folder, "a.sock")]) {
          expect(() => launcher.launch({ ...shell, command: ["true"], mounts: [{ host, guest: "/data", mode: "ro" }] }), host).toThrow(/the mount \/data cannot be made/);
        }
      } finally {
        server.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }, 240_000);
  });
}

/** The most its processes used together, looked at while it lives. */
async function peakMemory(guest: ReturnType<Launcher["launch"]>): Promise<number> {
  let peak = 0;
  let isOver = false;
  guest.exited.then(() => (isOver = true)).catch(() => undefined);
  while (!isOver) {
    peak = Math.max(peak, guest.use()?.memoryMiB ?? 0);
    await new Promise((wake) => setTimeout(wake, 20));
  }
  return peak;
}

