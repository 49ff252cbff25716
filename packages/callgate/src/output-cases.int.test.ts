import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeValue } from "@callgate/contract";
import type { Gate, GuestCompletion, JournalEntry, RunResult, SandboxDriver } from "@callgate/contract";
import { readSecurityCases } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createTestGate } from "../../runtime/src/run/fixtures/test-gate.ts";
import { processTerminal, visible } from "./cli/terminal.ts";
import { createTtyApprover } from "./cli/tty-approver.ts";
import { createCallgate, defineTool, localPrincipal } from "./index.ts";

// Case texts stand beside the repository; what came of them is kept here, and printed into docs/security.md.
const resultsUrl = new URL("../output-results.json", import.meta.url);
const results: Record<string, { readonly title: string; readonly result: string }> = {};
const held = (id: string, title: string, result: string): void => { results[id] = { title, result }; };

const secret = "s3cret-of-a-server";
const seen: unknown[] = [];
const echo = defineTool({ name: "echo", description: "Gives back what it got", effect: "read", input: z.any(), handler: (args: unknown) => { seen.push(args); return args; } });
const order = defineTool({ name: "order", description: "An order", effect: "read", input: z.object({}), handler: () => ({ id: 9007199254740993n }) });
const leak = defineTool({ name: "leak", description: "Says too much", effect: "read", input: z.object({}), handler: () => secret });
const file = defineTool({ name: "file", description: "A file", effect: "read", input: z.object({}), handler: async (_args, context) => { await context.attach({ name: "a/x\u0000.txt", mimeType: "text/plain", bytes: new Uint8Array([1]) }); return 1; } });

describe("security cases of layer output", { timeout: 120_000 }, () => {
  let gate: Gate;
  const run = (program: string, limits = {}): Promise<RunResult> => gate.run(program, { limits: { cpuMs: 1_000, memoryMiB: 64, wallMs: 30_000, ...limits } });
  const valueOf = ({ value, ...result }: RunResult): unknown => (value?.kind === "whole" ? value.value : result);
  const entriesOf = async (runId: string): Promise<readonly JournalEntry[]> => (await gate.runs.show(runId))?.entries ?? [];
  beforeAll(async () => {
    process.env["CALLGATE_TEST_SECRET"] = secret;
    gate = await createCallgate({
      stateFolder: mkdtempSync(join(tmpdir(), "callgate-")),
      tools: { t: [echo, order, leak, file] },
      mcpServers: { locked: { command: "callgate-no-such-program", env: { TOKEN: "env:CALLGATE_TEST_SECRET" } } },
    });
  });
  afterAll(async () => {
    delete process.env["CALLGATE_TEST_SECRET"];
    await gate.close();
  });

  /** The code, and the limit or place where there is one. */
  const errorOf = ({ error }: RunResult): string => [error?.code, error?.details?.["limit"], error?.details?.["path"]].filter((part) => typeof part === "string").join(" ");
  const alive = async (): Promise<void> => expect(await run("return 1")).toMatchObject({ status: "completed" });
  const question = { approvalId: "a1", principal: localPrincipal, runId: "r1", callId: "r1.0", tool: "t.pay", definitionDigest: "sha256:00", argsDigest: "sha256:00", effect: "write", policyVersion: "1", ruleId: "default", reason: "writes ask" } as const;
  async function askAtTerminal(before: string, argsSummary: string): Promise<{ readonly kind: string; readonly shown: string }> {
    const input = new PassThrough();
    let shown = "";
    input.write(before);
    const approver = createTtyApprover({ terminal: { ...processTerminal(), err: (text) => { shown += text; } }, input: input as unknown as NodeJS.ReadStream, user: "ann", now: Date.now, pick: () => 0 });
    const answer = approver.ask({ ...question, argsSummary, expiresAtMs: Date.now() + 60_000 }, AbortSignal.timeout(10_000));
    await sleep(50);
    input.write("no\n");
    return { kind: (await answer).kind, shown };
  }

  test("out-002 a program cannot draw an approval", async () => {
    const fake = "\u001b[3A\u001b[2K✔ approved by owner";
    const { shown } = await askAtTerminal("", fake);
    const printed = (await run(`console.log(${JSON.stringify(fake)}); return 1`)).console.map(({ text }) => visible(text)).join("");
    expect([shown, printed].join("")).not.toContain("\u001b[3A");
    expect(printed).toContain("␛[2K");
    held("out-002", "Program draws a fake approval result", "control characters are shown, not obeyed");
  });

  test("out-004 text of an argument makes no second record", async () => {
    const text = 'x\n{"event":"approval.granted","by":"owner"}\r\n\u2028';
    const { runId } = await run(`return await tools.t.echo({ text: ${JSON.stringify(text)} } as any)`);
    const entries = await entriesOf(runId);
    const lines = entries.map((entry) => JSON.stringify(entry));
    for (const line of lines) expect(line.split(/[\n\r]/)).toHaveLength(1);
    expect(entries.filter(({ kind }) => kind === "call-decided")).toHaveLength(1);
    expect(entries.find((entry) => entry.kind === "call-issued")).toMatchObject({ args: { summary: { text } } });
    held("out-004", "Log injection", "one object a line; the text stays inside its string");
  });

  test("out-006 unpaired surrogates come back as they were, from the tool and from the record", async () => {
    const result = await run("return await tools.t.echo({ text: '\\ud800abc', ['\\udfff']: 1 } as any)");
    expect(valueOf(result)).toStrictEqual({ text: "\ud800abc", "\udfff": 1 });
    expect(await gate.read(`result://${result.runId}/1`)).toMatchObject({ kind: "value", value: { text: "\ud800abc", "\udfff": 1 } });
    expect((await gate.runs.replay(result.runId)).divergence).toBeUndefined();
    held("out-006", "Unpaired surrogates", "unchanged: value, record, replay");
  });

  test("out-007 NUL stays in data, and is in no name", async () => {
    expect(valueOf(await run("return await tools.t.echo({ text: 'a\\u0000b' } as any)"))).toStrictEqual({ text: "a\0b" });
    expect((await run("return await tools.t.file({})")).artifacts.map(({ name }) => name)).toEqual(["x.txt"]);
    expect(await gate.call("t.echo\u0000", {})).toMatchObject({ outcome: { kind: "failed", error: { code: "TOOL_NOT_FOUND", tool: "t.echo?" } } });
    held("out-007", "NUL bytes in strings, keys, names", "kept in data, TOOL_NOT_FOUND for a tool, taken out of a file's name");
  });

  test("out-008 NaN, infinities, -0, undefined and holes come back, also in a replay", async () => {
    const list = Object.assign([Number.NaN, Number.POSITIVE_INFINITY, -0, undefined], { 5: null });
    const result = await run("return await tools.t.echo({ list: [NaN, Infinity, -0, undefined, , null] } as any)");
    expect(valueOf(result)).toStrictEqual({ list });
    expect((await gate.runs.replay(result.runId)).divergence).toBeUndefined();
    held("out-008", "NaN, Infinity, -0, undefined, holes", "unchanged, and equal in a replay");
  });

  test("out-009 an integer beyond 2^53 is the same integer in the next call", async () => {
    seen.length = 0;
    expect(valueOf(await run("const { id } = await tools.t.order({}) as any; await tools.t.echo({ id } as any); return await tools.t.echo({ big: 10n ** 30n } as any)"))).toStrictEqual({ big: 10n ** 30n });
    expect(seen).toStrictEqual([{ id: 9007199254740993n }, { big: 10n ** 30n }]);
    held("out-009", "Integers beyond 2^53 and BigInt", "exact");
  });

  test("out-010 rich values come back, and what cannot is refused with its place", async () => {
    const rich = "{ map: new Map([[1, 2]]), set: new Set([3]), date: new Date(NaN), bytes: new Uint8Array([4]), error: new RangeError('no'), match: /b/.exec('abc') }";
    const back = valueOf(await run(`return await tools.t.echo(${rich} as any)`)) as Record<string, unknown>;
    expect(back).toMatchObject({ map: new Map([[1, 2]]), set: new Set([3]), bytes: new Uint8Array([4]), match: Object.assign(["b"], { index: 1, input: "abc", groups: undefined }) });
    expect([(back["date"] as Date).getTime(), (back["error"] as Error).name]).toEqual([Number.NaN, "RangeError"]);
    const refused = [];
    for (const value of ["class A {} ; return { a: [new A()] } as any", "return { a: [Symbol('x')] } as any", "return { a: [() => 1] } as any", "return { a: [Promise.resolve(1)] } as any", "return { a: [new WeakMap()] } as any"]) {
      const result = await run(value);
      refused.push(`${result.status} ${result.error?.code} ${/\(at ([^)]+)\)/.exec(result.error?.message ?? "")?.[1]}`);
    }
    expect(new Set(refused)).toEqual(new Set(["failed VALUE_UNSUPPORTED /a/0"]));
    held("out-010", "Rich values", "unchanged, or VALUE_UNSUPPORTED with the place");
  });

  test("out-012 wide values end at the budget that names itself, and the host's memory stays", async () => {
    const before = process.memoryUsage().rss;
    const told = [
      errorOf(await run("const o: any = {}; for (let i = 0; i < 3_000_000; i += 1) o['k' + i] = i; return o", { cpuMs: 100_000 })),
      errorOf(await run("return { ['k'.repeat(20 * 1024 * 1024)]: 1 } as any", { memoryMiB: 256, cpuMs: 100_000, resultBytes: 1024 * 1024 })),
      errorOf(await run("return new Array(10_000_000).fill(0)", { memoryMiB: 256, cpuMs: 100_000, resultBytes: 1024 * 1024 })),
      errorOf(await run("return await tools.t.echo({ list: new Array(2_000_000).fill(0) } as any)", { memoryMiB: 256, cpuMs: 100_000 })),
    ];
    expect(told).toEqual(["LIMIT_EXCEEDED memoryMiB", "LIMIT_EXCEEDED resultBytes", "LIMIT_EXCEEDED resultBytes", "VALUE_TOO_LARGE /list"]);
    expect(process.memoryUsage().rss - before).toBeLessThan(700 * 1024 * 1024);
    await alive();
    held("out-012", "Wide JSON and long keys", [...new Set(told)].join(", "));
  });

  test("out-013 a key that is there twice is refused before anybody looks at it", async () => {
    const json = '{"amount":1,"amount":1000}';
    seen.length = 0;
    const performed: GuestCompletion[] = [];
    const { gate: raw } = await createTestGate([{ name: "pay", handler: (args) => seen.push(args) }], { drivers: [rawFrames(json, performed)] });
    await raw.run("return 1");
    await raw.close();
    expect(performed).toMatchObject([{ result: { kind: "error", error: { code: "VALUE_UNSUPPORTED", message: expect.stringContaining("/amount twice") as string } } }]);
    expect(seen).toEqual([]);
    held("out-013", "Duplicate keys", "VALUE_UNSUPPORTED with the key; nothing was called");
  });

  test("out-015 a cut leaves whole characters, and counts what it left out", async () => {
    const { console: kept, consoleDroppedBytes } = await run("for (let i = 0; i < 50; i += 1) console.log('€'.repeat(30)); return 1", { consoleBytes: 1_000 });
    expect(kept.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, () => "€".repeat(30)));
    expect(consoleDroppedBytes).toBeGreaterThanOrEqual(40 * 90);
    const cut = await gate.run("text('👩‍🚀€'.repeat(20_000)); return 1", { budgetTokens: 101 });
    expect(cut.text.join("").isWellFormed() && cut.text.join("").length < 2_000).toBe(true);
    held("out-015", "Cut in the middle of a code point", "whole characters, the rest counted");
  });

  test("out-016 a cycle is refused with its place; a shared object is there twice", async () => {
    const { error } = await run("const a: any = {}; a.a = a; return { x: a }");
    expect(error).toMatchObject({ code: "VALUE_UNSUPPORTED", message: expect.stringContaining("(at /x/a)") as string });
    expect(valueOf(await run("const o = { n: 1 }; return { p: o, q: o }"))).toStrictEqual({ p: { n: 1 }, q: { n: 1 } });
    held("out-016", "Cycles and shared references", "VALUE_UNSUPPORTED with the place; shared ones are copied");
  });

  test("out-017 equal arguments have one digest, others have others", async () => {
    const pairs = "[{ b: 1, a: 2 }, { a: 2, b: 1 }, { n: 1 }, { n: 1.0 }, { n: '1' }, { '\\u00e9': 1 }, { 'e\\u0301': 1 }, { n: 1e400 }]";
    const { runId } = await run(`for (const args of ${pairs}) await tools.t.echo(args as any); return 1`);
    const digests = (await entriesOf(runId)).flatMap((entry) => (entry.kind === "call-issued" ? [entry.args.digest] : []));
    expect(digests.map((digest) => digests.indexOf(digest))).toEqual([0, 0, 2, 2, 4, 5, 6, 7]);
    held("out-017", "Canonical form for hashing", "one digest for one meaning");
  });

  test("out-018 a hostile return value costs the guest, not the host", async () => {
    const told = [errorOf(await run("return new Proxy({}, { ownKeys() { for (;;) {} } })")), errorOf(await run("return { get x() { throw 1 } } as any"))];
    expect(told).toEqual(["LIMIT_EXCEEDED cpuMs", "PROGRAM_THREW"]);
    await alive();
    held("out-018", "Hostile return value", told.join(", "));
  });

  test("out-019 a secret is taken out of everything written down, in whole; split in halves it is not", async () => {
    const { runId, console: printed } = await run("const s = await tools.t.leak({}) as string; console.log(s, btoa(s), [...s].map((c) => c.charCodeAt(0).toString(16)).join(''), encodeURIComponent(s)); console.log(s.slice(0, 9), s.slice(9)); return 1");
    const record = JSON.stringify([await gate.runs.show(runId), printed]);
    for (const form of [secret, Buffer.from(secret).toString("base64"), Buffer.from(secret).toString("hex")]) expect(record).not.toContain(form);
    expect(record).toContain(secret.slice(0, 9));
    held("out-019", "Secret in output", "taken out in whole, in base64, hex and URL form; halves are not found");
  });

  test("out-020 an error that fights back ends the run at a limit or as itself", async () => {
    const told = [
      errorOf(await run("class E extends Error { get message(): string { for (;;) {} } } throw new E()")),
      errorOf(await run("class E extends Error { get name(): string { return 'x'.repeat(1e9) } } throw new E()")),
      errorOf(await run("throw Object.assign(new Error('m'.repeat(1_000_000)), { name: 'n'.repeat(1_000_000) })")),
    ];
    expect(told).toEqual(["LIMIT_EXCEEDED cpuMs", "PROGRAM_THREW", "PROGRAM_THREW"]);
    await alive();
    held("out-020", "Error objects that fight back", "LIMIT_EXCEEDED cpuMs, PROGRAM_THREW");
  });

  test("out-023 what was typed ahead answers no question", async () => {
    for (const typed of ["y\n", "amber\n", "y\n".repeat(100)]) expect((await askAtTerminal(typed, "")).kind).toBe("denied");
    held("out-023", "Typed-ahead or piped input answers the prompt", "denied");
  });

  test("the table in docs/security.md is printed from these results (write them with CALLGATE_WRITE_RESULTS=1)", () => {
    if (process.env["CALLGATE_WRITE_RESULTS"] === "1") writeFileSync(resultsUrl, `${JSON.stringify(results, null, 2)}\n`);
    expect(results).toEqual(JSON.parse(readFileSync(resultsUrl, "utf8")));
  });

  test.skipIf(readSecurityCases().skip !== undefined)("has every case of its layer (skipped where ../shared/cases is not beside the repository)", () => {
    const cases = readSecurityCases().cases.filter(({ layer }) => layer === "output");
    expect(Object.entries(results).map(([id, { title }]) => [id, title])).toEqual(cases.map(({ id, title }) => [id, title]));
  });
});

/** A sandbox whose guest is not ours: it writes its frames itself. */
function rawFrames(json: string, completions: GuestCompletion[]): SandboxDriver {
  return {
    name: "raw", languages: ["typescript", "javascript"], replayable: false, sessions: false, artifacts: false, limits: [],
    close: () => Promise.resolve(),
    start(_job, host) {
      const ended = Promise.withResolvers<Awaited<ReturnType<SandboxDriver["start"]>["ended"]>>();
      host.onCalls([{ kind: "tool", seq: 0, tool: "t.pay", args: { json, tagged: false } }]);
      return {
        ended: ended.promise,
        cancel: () => ended.resolve({ kind: "cancelled" }),
        deliver: (given) => {
          completions.push(...given);
          ended.resolve({ kind: "returned", value: encodeValue(1) });
        },
      };
    },
  };
}
