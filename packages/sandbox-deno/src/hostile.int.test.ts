import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import type { SandboxDriver } from "@callgate/contract";
import { startProgram, valueOf } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDenoDriver, createDenoLauncher } from "./index.ts";

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

/** Each gives something of the host, or throws. */
const attempts: readonly (readonly [what: string, expression: string])[] = [
  ["reads a file", "Deno.readTextFileSync(canary)"],
  ["reads a file by node:fs", "(await import('node:fs')).readFileSync(canary, 'utf8')"],
  ["lists a folder", "[...Deno.readDirSync('/')].length"],
  ["reads /proc", "Deno.readTextFileSync('/proc/self/environ')"],
  ["imports a text file", "(await import(canary, { with: { type: 'text' } })).default"],
  ["imports a file as a module", "(await import('file://' + canary)).default"],
  ["fetches a file", "await (await fetch('file://' + canary)).text()"],
  ["writes a file", "Deno.writeTextFileSync('/tmp/callgate-owned', 'x')"],
  ["writes a file by node:fs", "(await import('node:fs')).writeFileSync('/tmp/callgate-owned', 'x')"],
  ["makes a temporary file", "Deno.makeTempFileSync()"],
  ["opens a descriptor", "Deno.openSync('/dev/fd/0')"],
  ["connects", "await Deno.connect({ hostname: '127.0.0.1', port: CANARY_PORT })"],
  ["connects by node:net", "await new Promise((resolve, reject) => import('node:net').then((net) => net.connect(CANARY_PORT, '127.0.0.1').once('connect', resolve).once('error', reject)))"],
  ["fetches", "await fetch('http://127.0.0.1:CANARY_PORT/')"],
  ["opens a WebSocket", "await new Promise((resolve, reject) => { const socket = new WebSocket('ws://127.0.0.1:CANARY_PORT/'); socket.onopen = resolve; socket.onerror = reject })"],
  ["listens", "Deno.listen({ port: 0 })"],
  ["resolves a name", "await Deno.resolveDns('localhost', 'A')"],
  ["connects to a socket file", "await Deno.connect({ transport: 'unix', path: '/run/x' })"],
  ["reads the environment", "Deno.env.toObject()"],
  ["reads the environment by node:process", "(() => { const found = process.env.CANARY_SECRET; if (found === undefined) throw new Error('nothing'); return found })()"],
  ["runs a program", "new Deno.Command('/bin/true').outputSync()"],
  ["runs a program by node:child_process", "(await import('node:child_process')).execFileSync('/bin/true')"],
  ["loads a library", "Deno.dlopen('libc.so.6', {})"],
  ["loads a native module", "process.dlopen({ exports: {} }, canary)"],
  ["looks at the system", "Deno.hostname()"],
  ["signals a process", "Deno.kill(1, 'SIGCONT')"],
  ["imports from npm", "await import('npm:chalk')"],
  ["imports from the web", "await import('http://127.0.0.1:CANARY_PORT/x.js')"],
  ["asks for a permission", "(await Deno.permissions.request({ name: 'read' })).state === 'granted' ? 'granted' : (() => { throw new Error('denied') })()"],
  ["keeps something in localStorage", "localStorage.setItem('a', 'b')"],
  ["keeps something in the cache", "await caches.open('a')"],
  ["opens the inspector", "(await import('node:inspector')).open(0)"],
];

/** An error in a worker ends the whole process, so each of these has its own. */
const workerAttempts: readonly (readonly [what: string, expression: string])[] = [
  ["a worker reads a file", "await new Promise((resolve, reject) => { const worker = new Worker('data:text/javascript,postMessage(Deno.readTextFileSync(' + encodeURIComponent(JSON.stringify(canary)) + '))', { type: 'module' }); worker.onmessage = resolve; worker.onerror = (event) => { event.preventDefault(); reject(event) } })"],
  ["a worker asks for permissions", "await new Promise((resolve, reject) => { const worker = new Worker('data:text/javascript,postMessage(1)', { type: 'module', deno: { permissions: { read: true } } }); worker.onmessage = resolve; worker.onerror = (event) => { event.preventDefault(); reject(event) } })"],
];

describe("Deno without permissions", () => {
  const folder = mkdtempSync(join(tmpdir(), "callgate-deno-"));
  const canary = join(folder, "canary.txt");
  const listener = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
  const connections: unknown[] = [];
  listener.on("connection", (socket) => connections.push(socket.remotePort));
  beforeAll(async () => {
    writeFileSync(canary, "canary-7f3a");
    process.env["CANARY_SECRET"] = "canary-7f3a";
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    delete process.env["CANARY_SECRET"];
    listener.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("gives a program that got out of its realm nothing of the host", async () => {
    const port = (listener.address() as AddressInfo).port;
    const tries = attempts.map(([what, expression]) => `try { const found = await (async () => (${expression.replaceAll("CANARY_PORT", `${port}`)}))(); say(${JSON.stringify(`ESCAPED ${what}: `)} + String(found) + "\\n") } catch (error) { say("SAFE\\n") }`);
    const { said } = await outside(`${tries.join("\n")}\nsay("END")`, canary);
    expect(said.match(/ESCAPED.*/g) ?? []).toEqual([]);
    expect(said.match(/SAFE/g)).toHaveLength(attempts.length);
    expect(said.endsWith("END")).toBe(true);
    expect(said).not.toContain("canary");
    expect(connections).toEqual([]);
    expect(existsSync("/tmp/callgate-owned")).toBe(false);
  }, 60_000);

  test.each(workerAttempts)("%s: no", async (_what, expression) => {
    const { said } = await outside(`try { const found = await (async () => (${expression}))(); say("ESCAPED" + String(found?.data)) } catch { say("SAFE") }`, canary);
    // Where there is no memory for a second engine, there is no worker at all, and the process is over.
    expect(["SAFE", ""]).toContain(said);
  }, 30_000);

  test("is what holds: with a permission the same attempts get through", async () => {
    const launcher = createDenoLauncher({ reads: [folder] });
    const file = join(folder, "reads.js");
    writeFileSync(file, `Deno.stdout.writeSync(new TextEncoder().encode(Deno.readTextFileSync(${JSON.stringify(canary)})))`);
    const guest = launcher.launch({ command: ["{guest}"], guestFile: pathToFileURL(file), environment: {}, bounds, mounts: [] });
    expect(await text(guest.frames)).toBe("canary-7f3a");
    await guest.exited;
  }, 30_000);

  test.skipIf(process.platform !== "linux").each([
    ["the heap", "const a = []; for (;;) a.push(new Array(1e5).fill(a))"],
    ["buffers", "const a = []; for (;;) { try { a.push(new Uint8Array(1 << 22).fill(1)) } catch { say('END'); Deno.exit(9) } }"],
    ["memory of WebAssembly", "const a = []; for (;;) { try { const m = new WebAssembly.Memory({ initial: 1024 }); new Uint8Array(m.buffer).fill(1); a.push(m) } catch { say('END'); Deno.exit(9) } }"],
  ])("the kernel bounds %s, without the host", async (_what, program) => {
    const { said, code, outOfMemory } = await outside(program);
    expect(outOfMemory || (said === "END" && code === 9)).toBe(true);
  }, 60_000);
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
  }, 30_000);

  test("many at once: each has a process of its own, what does not fit waits", async () => {
    const values = await Promise.all(Array.from({ length: 40 }, (_, index) => valueOf(driver, `return (await tools.demo.echo({ i: ${index} })).i`)));
    expect(values).toEqual(Array.from({ length: 40 }, (_, index) => index));
  }, 120_000);

  test("nothing persists: no storage, and the same names whatever ran before", async () => {
    const names = "return Object.getOwnPropertyNames(globalThis).filter((name) => /storage|cache|Deno|process|Worker/i.test(name))";
    expect(await valueOf(driver, names)).toEqual([]);
  }, 30_000);

  test("import() of anything is refused, with what to do", async () => {
    for (const specifier of ["node:fs", "data:text/javascript,export default 1", "./javascript.js", "npm:chalk"]) {
      const end = await startProgram(driver, `return await import(${JSON.stringify(specifier)})`).ended;
      expect(end).toMatchObject({ kind: "threw", error: { message: expect.stringContaining("import() is not there") } });
      const hidden = await startProgram(driver, `return await (0, eval)(${JSON.stringify(`import(${JSON.stringify(specifier)})`)})`).ended;
      expect(hidden.kind).toBe("threw");
    }
  }, 60_000);

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
  }, 30_000);

  test("a stack names places of the program and nothing of this machine", async () => {
    expect(await valueOf(driver, "const f = () => { throw new Error('x') };\ntry { f() } catch (error) { return error.stack }")).toMatch(/^ {4}at f \(program\.js:2:\d+\)\n {4}at <anonymous> \(program\.js:3:\d+\)$/);
  }, 30_000);

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
  }, 30_000);
});
