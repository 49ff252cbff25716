import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxDriver } from "@callgate/contract";
import { isWholeRun, testSandboxDriver } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runPython } from "./fixtures/run-python.ts";
import { pyodideExceptions } from "./fixtures/suite-exceptions.ts";
import { createPyodideDriver, createPyodideLauncher } from "./index.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
const cacheFolder = mkdtempSync(join(tmpdir(), "callgate-pyodide-"));
afterAll(() => rmSync(cacheFolder, { recursive: true, force: true }));
// Made once, before anything has a deadline.
beforeAll(async () => {
  expect(await createPyodideLauncher({ cacheFolder }).probe()).toMatchObject({ kind: "ready" });
}, 180_000);

// Each of its programs starts an interpreter of its own, a third of a second of a processor.
if (isWholeRun) testSandboxDriver("createPyodideDriver", () => createPyodideDriver({ cacheFolder, maxGuests: 4 }), { dialect: "python", except: pyodideExceptions });

describe("createPyodideDriver", () => {
  let driver: SandboxDriver;
  beforeAll(() => {
    driver = createPyodideDriver({ cacheFolder });
  });
  afterAll(() => driver.close());
  const python = (code: string) => runPython(driver, code);

  test("time.sleep and event loops wait on the host: no CPU, timers told as such", async () => {
    const run = await python("import asyncio, time\ntime.sleep(0.3)\nasync def one(n):\n    await asyncio.sleep(n)\n    return n\nr = await asyncio.gather(one(0.3), one(0.1), one(0.2))\ntry:\n    await asyncio.wait_for(asyncio.sleep(9), 0.1)\nexcept TimeoutError:\n    r.append('late')\nr");
    expect(run.value).toEqual([0.3, 0.1, 0.2, "late"]);
    expect(new Set(run.calls.map(({ kind }) => kind))).toEqual(new Set(["timer"]));
  }, 180_000);

  test("many at once: what does not fit waits", async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, () => python("from tools import demo\ndemo.echo(i=1)['i']")));
    expect(runs.map(({ value }) => value)).toEqual([1, 1, 1, 1, 1, 1]);
  }, 180_000);

  test("asyncio.run and tools at once", async () => {
    const run = await python("import asyncio\nfrom tools import aio\nasync def main():\n    return await asyncio.gather(aio.demo.echo(i=1), asyncio.sleep(0.01, 'slept'), aio.demo.echo(i=2))\nasyncio.run(main())");
    expect(run.value).toEqual([{ i: 1 }, "slept", { i: 2 }]);
  }, 180_000);

  test("the whole standard library is there at once", async () => {
    const run = await python("import sqlite3, zoneinfo, hashlib, lzma, bz2, decimal, xml.etree.ElementTree, html.parser, zipfile, tomllib, difflib, csv\nconnection = sqlite3.connect(':memory:')\n[connection.execute('select 6 * 7').fetchone()[0], hashlib.sha256(b'x').hexdigest()[:8], str(decimal.Decimal(1) / 3)[:6]]");
    expect(run.value).toEqual([42, "2d711642", "0.3333"]);
  }, 180_000);

  test("seeds are renewed after the snapshot: random follows the run's seed, secrets do not repeat", async () => {
    const code = "import random, secrets, uuid\n[random.random(), secrets.token_hex(8), str(uuid.uuid4())]";
    const [first, second] = [(await python(code)).value as readonly unknown[], (await python(code)).value as readonly unknown[]];
    expect(first[0]).toBe(second[0]);
    expect(first[1]).not.toBe(second[1]);
    expect(first[2]).not.toBe(second[2]);
  }, 180_000);

  test("a crash of the interpreter is told as what it is, and the next program runs", async () => {
    const { end, out, err } = await python("import json\nprint('before')\njson.loads('[' * 1_000_000)");
    expect(end).toMatchObject({ kind: "limit", limit: "stackKiB" });
    expect([out, err]).toEqual(["before", ""]);
    expect((await python("1")).value).toBe(1);
  }, 180_000);

  test("what lacks the platform says so", async () => {
    expect((await python("import subprocess\nsubprocess.run(['ls'])")).end).toMatchObject({ kind: "threw", error: { name: "OSError" } });
    expect((await python("import threading\nthreading.Thread(target=print).start()")).end).toMatchObject({ kind: "threw", error: { name: "RuntimeError" } });
  }, 180_000);

  test.skipIf(!hasPython)(`pure wheels of a folder can be imported, and the folder cannot be read${hasPython ? "" : " (skipped: python3 makes the wheel)"}`, async () => {
    const wheels = join(cacheFolder, "wheels");
    const source = join(cacheFolder, "source");
    for (const folder of [wheels, join(source, "greeting"), join(source, "greeting-1.0.dist-info")]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(source, "greeting/__init__.py"), "def hello(): return 'hello'\n");
    writeFileSync(join(source, "greeting-1.0.dist-info/METADATA"), "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n");
    writeFileSync(join(source, "greeting-1.0.dist-info/WHEEL"), "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
    execFileSync("python3", ["-m", "zipfile", "-c", join(wheels, "greeting-1.0-py3-none-any.whl"), "greeting", "greeting-1.0.dist-info"], { cwd: source });
    const withWheels = createPyodideDriver({ cacheFolder, wheels, warm: 0 });
    try {
      expect((await runPython(withWheels, "import greeting\ngreeting.hello()")).value).toBe("hello");
      const read = await runPython(withWheels, `import js\njs.Deno.readTextFileSync(${JSON.stringify(join(wheels, "greeting-1.0-py3-none-any.whl"))})`);
      expect(read.end).toMatchObject({ kind: "threw", error: { message: expect.stringContaining("NotCapable") } });
    } finally {
      await withWheels.close();
    }
  }, 180_000);

  test("br-032: a broken snapshot is made anew", async () => {
    const [name = ""] = readdirSync(cacheFolder).filter((file) => file.endsWith(".snapshot"));
    const path = join(cacheFolder, name);
    const bytes = readFileSync(path);
    bytes[1_000_000] = (bytes[1_000_000] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const launcher = createPyodideLauncher({ cacheFolder });
    expect(await launcher.probe()).toMatchObject({ kind: "ready" });
    expect(readFileSync(path).equals(bytes)).toBe(false);
    const guest = launcher.launch({ command: [], environment: {}, bounds: { memoryMiB: 64, processes: 1, workspaceMiB: 0, workspaceFiles: 0, openFiles: 64 }, mounts: [] });
    const [first] = (await guest.frames.once("data", () => guest.kill()).toArray()) as readonly Buffer[];
    expect(first?.toString("utf8")).toContain('"hello"');
    expect(readdirSync(cacheFolder).filter((file) => file.includes(".snapshot."))).toEqual([]);
  }, 180_000);

  test("where nothing can be kept it starts slowly, and says so", async () => {
    const blocked = join(cacheFolder, "a-file");
    writeFileSync(blocked, "");
    expect(await createPyodideLauncher({ cacheFolder: blocked }).probe()).toMatchObject({ kind: "ready", missing: expect.arrayContaining([expect.stringContaining("starts slowly")]) });
  }, 180_000);
});
