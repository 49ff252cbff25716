import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import type { SandboxDriver } from "@callgate/contract";
import { startProgram, valueOf } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkDenoWalls, createDenoDriver, createDenoLauncher } from "./index.ts";

const bounds = { memoryMiB: 128, processes: 8, workspaceMiB: 0, workspaceFiles: 0, openFiles: 64 };

/** Runs a text as Deno itself would, outside the realm of programs: what a program that got there could do. */
async function outside(program: string, canary = ""): Promise<{ readonly said: string; readonly code: number | undefined; readonly signal: string | undefined; readonly outOfMemory: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), "callgate-deno-"));
  const file = join(folder, "program.js");
  writeFileSync(file, `const canary = ${JSON.stringify(canary)};\nconst say = (text) => Deno.stdout.writeSync(new TextEncoder().encode(text));\n${program}`);
  try {
    const guest = createDenoLauncher().launch({ command: ["{guest}"], guestFile: pathToFileURL(file), environment: {}, bounds, mounts: [] });
    const patience = setTimeout(() => guest.kill(), 20_000);
    guest.commands.end();
    const [said, , exit] = await Promise.all([text(guest.frames), text(guest.stdout), guest.exited]);
    clearTimeout(patience);
    return { said, ...exit };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An error in a worker ends the whole process, so each of these has its own. */
const workerAttempts: readonly (readonly [what: string, expression: string])[] = [
  ["a worker reads a file", "await new Promise((resolve, reject) => { const worker = new Worker('data:text/javascript,postMessage(Deno.readTextFileSync(' + encodeURIComponent(JSON.stringify(canary)) + '))', { type: 'module' }); worker.onmessage = resolve; worker.onerror = (event) => { event.preventDefault(); reject(event) } })"],
  ["a worker asks for permissions", "await new Promise((resolve, reject) => { const worker = new Worker('data:text/javascript,postMessage(1)', { type: 'module', deno: { permissions: { read: true } } }); worker.onmessage = resolve; worker.onerror = (event) => { event.preventDefault(); reject(event) } })"],
];

describe("Deno without permissions", () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-deno-"));
  const canary = join(folder, "canary.txt");
  writeFileSync(canary, "canary-7f3a");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("gives a program that got out of its realm nothing of the host", async () => {
    expect((await checkDenoWalls(createDenoLauncher())).filter(({ state }) => state !== "holds")).toEqual([]);
  });

  test("is what holds: with a permission to read the same attempts get through", async () => {
    const open = (await checkDenoWalls(createDenoLauncher({ reads: ["/"] }))).filter(({ state }) => state === "open");
    expect(open).toEqual([expect.objectContaining({ wall: "files of the host", found: expect.stringContaining("Deno.readTextFileSync, node:fs") })]);
  });

  test.each(workerAttempts)("%s: no", async (_what, expression) => {
    const { said } = await outside(`try { const found = await (async () => (${expression}))(); say("ESCAPED" + String(found?.data)) } catch { say("SAFE") }`, canary);
    // Where there is no memory for a second engine, there is no worker at all, and the process is over.
    expect(["SAFE", ""]).toContain(said);
  });

  test.skipIf(process.platform !== "linux").each([
    ["the heap", "const a = []; for (;;) a.push(new Array(1e5).fill(a))"],
    ["buffers", "const a = []; for (;;) { try { a.push(new Uint8Array(1 << 22).fill(1)) } catch { say('END'); Deno.exit(9) } }"],
    ["memory of WebAssembly", "const a = []; for (;;) { try { const m = new WebAssembly.Memory({ initial: 1024 }); new Uint8Array(m.buffer).fill(1); a.push(m) } catch { say('END'); Deno.exit(9) } }"],
  ])("the kernel bounds %s, without the host", async (_what, program) => {
    const { said, code, outOfMemory } = await outside(program);
    expect(outOfMemory || (said === "END" && code === 9)).toBe(true);
  });
});

describe("createDenoDriver, hostile programs", () => {
  let driver: SandboxDriver;
  beforeAll(() => {
    driver = createDenoDriver({ warm: 1 });
  });
  afterAll(() => driver.close());

  test("an endless chain of microtasks ends at a limit", async () => {
    const { ended } = startProgram(driver, "const spin = () => Promise.resolve().then(spin); spin(); await new Promise(() => {})", { limits: { cpuMs: 400, memoryMiB: 64 } });
    expect(await ended).toMatchObject({ kind: "limit", limit: expect.stringMatching(/^(cpuMs|memoryMiB)$/) });
  });

  test("many at once: each has a process of its own, what does not fit waits", async () => {
    const values = await Promise.all(Array.from({ length: 40 }, (_, index) => valueOf(driver, `return (await tools.demo.echo({ i: ${index} })).i`)));
    expect(values).toEqual(Array.from({ length: 40 }, (_, index) => index));
  }, 120_000);

  test("nothing persists: no storage, and the same names whatever ran before", async () => {
    const names = "return Object.getOwnPropertyNames(globalThis).filter((name) => /storage|cache|Deno|process|Worker/i.test(name))";
    expect(await valueOf(driver, names)).toEqual([]);
  });

  test("import() of anything is refused, with what to do", async () => {
    for (const specifier of ["node:fs", "data:text/javascript,export default 1", "./javascript.js", "npm:chalk"]) {
      const end = await startProgram(driver, `return await import(${JSON.stringify(specifier)})`).ended;
      expect(end).toMatchObject({ kind: "threw", error: { message: expect.stringContaining("import() is not there") } });
      const hidden = await startProgram(driver, `return await (0, eval)(${JSON.stringify(`import(${JSON.stringify(specifier)})`)})`).ended;
      expect(hidden.kind).toBe("threw");
    }
  });

  test("what a program catches from beyond its realm is of its own realm", async () => {
    const body = `
      const seen = [];
      const look = (error) => { try { seen.push(error.constructor.constructor("return typeof Deno + typeof process + typeof Worker")()) } catch { seen.push("refused") } };
      const deep = (n) => { try { return deep(n + 1) } catch (error) { look(error); try { console.log(n) } catch (inner) { look(inner) } return n } };
      deep(0);
      try { null.x } catch (error) { look(error); seen.push(/[\\\\/]/.test(error.stack)) }
      try { await import("x") } catch (error) { look(error) }
      try { new URL("::") } catch (error) { look(error) }
      return [...new Set(seen)]`;
    expect(await valueOf(driver, body)).toEqual(["undefinedundefinedundefined", false]);
  });

  test("a stack names places of the program and nothing of this machine", async () => {
    expect(await valueOf(driver, "const f = () => { throw new Error('x') };\ntry { f() } catch (error) { return error.stack }")).toMatch(/^ {4}at f \(program\.js:2:\d+\)\n {4}at <anonymous> \(program\.js:3:\d+\)$/);
  });

  test.skipIf(!existsSync("/proc"))("settle means dead: no process is left", async () => {
    await startProgram(driver, "return 1").ended;
    await driver.close();
    const own = readdirSync("/proc").filter((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("guests/javascript.js") && readFileSync(`/proc/${name}/stat`, "latin1").split(") ")[1]?.split(" ")[1] === `${process.pid}`;
      } catch {
        return false;
      }
    });
    expect(own).toEqual([]);
    driver = createDenoDriver({ warm: 0 });
  });
});
