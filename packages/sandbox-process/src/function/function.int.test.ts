import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createQuickJsDriver } from "@callgate/sandbox-quickjs";
import type { SandboxDriver } from "@callgate/contract";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createProcessDriver } from "../driver.ts";
import { serveFunction } from "../fixtures/function-server.ts";
import type { FunctionServer } from "../fixtures/function-server.ts";
import { runSource, startSource } from "../fixtures/run-source.ts";
import { writeFrame } from "../frames/frame-splitter.ts";
import { createUnsafeLocalLauncher } from "../launcher/local/local-launcher.ts";
import { createFunctionHandler } from "./function-handler.ts";
import { createHttpFunctionDriver } from "./http-function-driver.ts";
import { afterHeader } from "./round-frames.ts";

const token = "a token of a test, 32 characters";
const language = "javascript";
const text = (body: string): string => `(async ($callgate) => { "use strict";\n${body}\n})`;

describe("createHttpFunctionDriver", () => {
  const inner = createQuickJsDriver({ workers: 1 });
  let server: FunctionServer;
  let driver: SandboxDriver;
  beforeAll(async () => {
    server = await serveFunction(createFunctionHandler({ driver: inner, token, maxLimits: { cpuMs: 3_000 } }));
    driver = await createHttpFunctionDriver({ url: server.url, token });
  });
  afterAll(async () => {
    await driver.close();
    await server.close();
    await inner.close();
  });

  test("one request for a program without calls, one more for each round of calls", async () => {
    const before = server.requests;
    expect((await runSource(driver, text("return 1"), { language })).value).toBe(1);
    expect(server.requests - before).toBe(1);
    const { value, calls } = await runSource(driver, text("const a = await tools.demo.echo({ i: 1 }); const b = await tools.demo.echo({ i: a.i + 1 }); return [a.i, b.i]"), { language });
    expect([value, calls.map(({ seq }) => seq), server.requests - before]).toEqual([[1, 2], [0, 1], 4]);
  });

  test("a tool is called once, whatever is run again, and nothing runs there while it works", async () => {
    let performed = 0;
    const before = server.requests;
    const slow = async (): Promise<number> => {
      await new Promise((wake) => setTimeout(wake, 100));
      return (performed += 1);
    };
    const { value, out } = await runSource(driver, text("console.log('begun'); const all = await Promise.all([tools.demo.echo(), tools.demo.echo()]); console.log('then'); all.push(await tools.demo.echo()); return all.length"), { language, tools: { "demo.echo": slow } });
    expect([value, performed, out]).toEqual([3, 3, "begun\nthen"]);
    expect(server.requests - before).toBeLessThanOrEqual(4);
  });

  test("a cancel aborts the request and ends the program there", async () => {
    const { run, done } = startSource(driver, text("while (true) {}"), { language, limits: { cpuMs: 60_000 } });
    await new Promise((wake) => setTimeout(wake, 100));
    run.cancel();
    expect((await done).end).toEqual({ kind: "cancelled" });
    // The one worker is free again.
    expect((await runSource(driver, text("return 2"), { language })).value).toBe(2);
  });

  test("the function bounds what programs get, whatever is asked for", async () => {
    expect((await runSource(driver, text("while (true) {}"), { language, limits: { cpuMs: 1e9 } })).end).toMatchObject({ kind: "limit", limit: "cpuMs" });
  });

  test("a wrong token, a wrong path, a redirect, another version, garbage and an address in clear are refused, and no token is told", async () => {
    await expect(createHttpFunctionDriver({ url: server.url, token: "another token of 16 characters" })).rejects.toMatchObject({ code: "DRIVER_FAILED", message: expect.stringContaining("refuses the token") });
    await expect(createHttpFunctionDriver({ url: "http://127.0.0.1:9/run", token })).rejects.toMatchObject({ code: "DRIVER_FAILED" });
    for (const url of ["http://functions.example/run", "ftp://127.0.0.1/", "no address", "https://user:secret@functions.example/"]) await expect(createHttpFunctionDriver({ url, token })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    for (const answer of ["not json", "{}", '{"protocol":99,"languages":[],"limits":[],"artifacts":false}', "redirect"]) {
      const other = createServer((_request, response) => (answer === "redirect" ? response.writeHead(302, { location: server.url }).end() : response.end(answer))).listen(0, "127.0.0.1");
      await new Promise((resolve) => other.once("listening", resolve));
      const refused = createHttpFunctionDriver({ url: `http://127.0.0.1:${(other.address() as AddressInfo).port}/`, token });
      await expect(refused).rejects.toMatchObject({ code: "DRIVER_FAILED", message: expect.not.stringContaining(token) });
      other.close();
    }
    for (const wrong of ["short", ""]) expect(() => createFunctionHandler({ driver: inner, token: wrong })).toThrow(/16 characters/);
    const local = createProcessDriver({ launcher: createUnsafeLocalLauncher() });
    expect(() => createFunctionHandler({ driver: local, token })).toThrow(/do not do the same twice/);
    await local.close();
  });

  test.each([
    ["no frames", Buffer.from("hello")],
    ["no job", writeFrame({ k: "done", seq: 0, atMs: 0, tagged: false }, "1")],
    ["another version", writeFrame({ k: "job", protocol: 2 }, "x")],
    ["a job without limits", writeFrame({ k: "job", protocol: 1, seed: "0".repeat(32), runId: "r", language, modules: [], modulesDigest: "", startMs: 0 }, "x")],
  ])("the function refuses a request with %s", async (_what, body) => {
    const answer = await fetch(server.url, { method: "POST", body: new Uint8Array(body), headers: { authorization: `Bearer ${token}`, [afterHeader]: "0" } });
    expect(answer.status).toBe(400);
  });

  test("an answer to a call that is not open is a fault of the host, and ends the run", async () => {
    const { run, done } = startSource(driver, text("return await tools.demo.echo()"), { language, tools: { "demo.echo": () => new Promise(() => undefined) } });
    await new Promise((wake) => setTimeout(wake, 200));
    run.deliver([{ seq: 7, atMs: 1, result: { kind: "value", value: { json: "1", tagged: false } } }]);
    expect((await done).end).toMatchObject({ kind: "crashed", message: expect.stringContaining("call 7") });
  });
});

describe("a function that cannot be trusted", () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** A function that describes itself well and answers runs as told. */
  async function lying(answers: (round: number) => Response): Promise<SandboxDriver> {
    let round = 0;
    const server = await serveFunction((request) => Promise.resolve(request.method === "GET" ? Response.json({ protocol: 1, languages: [language], limits: ["cpuMs"], artifacts: true }) : answers(round++)));
    const driver = await createHttpFunctionDriver({ url: server.url, token });
    closing.push(async () => {
      await driver.close();
      await server.close();
    });
    return driver;
  }
  const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const frames = (...list: readonly Buffer[]): Response => new Response(Buffer.concat(list), { headers: { "callgate-digest": empty } });

  test.each<[string, (round: number) => Response, RegExp]>([
    ["answers with an error", () => new Response("gateway says <b>secret</b>", { status: 502 }), /HTTP 502$/],
    ["says why it refuses", () => Response.json({ message: "too large" }, { status: 413 }), /HTTP 413: too large/],
    ["answers garbage", () => frames(Buffer.from("not frames at all")), /broke its protocol/],
    ["says nothing", () => frames(), /neither ended nor waits for anything/],
    ["skips a call", () => frames(writeFrame({ k: "call", seq: 3, name: "demo.echo", tagged: false }, "{}")), /call 3 came where 0 was due/],
    ["sends arguments that are none", () => frames(writeFrame({ k: "call", seq: 0, name: "demo.echo", tagged: false }, '{"a":')), /no encoder writes/],
    ["sends an unknown frame", () => frames(writeFrame({ k: "take-over" })), /unknown frame/],
    ["says something else the second time", (round) => (round === 0 ? frames(writeFrame({ k: "call", seq: 0, name: "demo.echo", tagged: false }, "{}"), writeFrame({ k: "blocked", delivered: 0 })) : frames(writeFrame({ k: "returned", tagged: false }, "1"))), /did not do the same twice/],
    ["sends files over the bound", () => frames(...Array.from({ length: 65 }, (_, index) => writeFrame({ k: "artifact", name: `${index}`, mimeType: "" }, "x"))), /more files than allowed/],
    ["crashes", () => frames(writeFrame({ k: "crashed", message: "out of luck" })), /out of luck/],
  ])("br-024, br-025: one that %s ends the run as crashed and says so", async (_what, answer, said) => {
    const { end } = await runSource(await lying(answer), text("return 1"), { language });
    expect(end).toMatchObject({ kind: "crashed", message: expect.stringMatching(said) });
    expect(JSON.stringify(end)).not.toMatch(/<b>|127\.0\.0\.1|token of a test/);
  });
});
