import { afterEach, describe, expect, test, vi } from "vitest";
import { CallgateError, localPrincipal, ToolError } from "@callgate/contract";
import type { Source, SourceState, ToolContext } from "@callgate/contract";
import type { SampleCall, SourcePeer, SourceSuiteOptions } from "./source-peer.ts";

/** What a suite of cases is given: peers that are disposed of after each test. */
interface Suite {
  readonly open: () => Promise<SourcePeer>;
  readonly patienceMs: number;
}

/**
 * The definition of a source: every sentence of `Source` in the contract as a test.
 *
 * @param name of the kind of source, for the report
 * @param open makes a fresh source in front of a fresh peer
 */
export function testSource(name: string, open: () => Promise<SourcePeer>, { patienceMs = 15_000 }: SourceSuiteOptions = {}): void {
  const opened: SourcePeer[] = [];
  const suite: Suite = {
    patienceMs,
    open: async () => {
      const peer = await open();
      opened.push(peer);
      return peer;
    },
  };
  afterEach(async () => {
    for (const peer of opened.splice(0)) {
      await peer.source.close();
      await peer.dispose();
    }
  });
  describe(`testSource(${name})`, { timeout: 4 * patienceMs }, () => {
    listSuite(suite);
    callSuite(suite);
    closeSuite(suite);
    fateSuite(suite);
  });
}

const alive = (): AbortSignal => new AbortController().signal;

function listSuite({ open }: Suite): void {
  test("says who it is, and how it stands before it is used", async () => {
    const { source } = await open();
    expect([source.namespace, source.kind].every((text) => text !== "")).toBe(true);
    expect(["connecting", "idle", "ready"]).toContain(source.state.kind);
  });

  test("lists every tool that can be used; what is malformed is told and costs only itself", async () => {
    const { source, tools, malformed = [] } = await open();
    const listing = await source.list(alive());
    expect(listing.tools.map(({ tool }) => tool.name).sort()).toEqual([...tools].sort());
    for (const { tool } of listing.tools) {
      expect(["read", "write", "destructive"]).toContain(tool.effect);
      expect(tool.timeoutMs).toBeGreaterThan(0);
      expect(typeof tool.input).toBe("object");
    }
    for (const one of malformed) expect(listing.problems.some(({ tool, message }) => (tool === one || message.includes(one)) && message !== ""), one).toBe(true);
    expect(source.state.kind).toBe("ready");
  });

  test("lists any number of times, also at once, and always the same", async () => {
    const { source } = await open();
    const listings = await Promise.all([1, 2, 3, 4].map(() => source.list(alive())));
    const names = [...listings, await source.list(alive())].map(({ tools }) => tools.map(({ tool }) => tool.name));
    expect(new Set(names.map((one) => one.join())).size).toBe(1);
  });

  test("what gives up waiting for a list gets the reason, and the next one is answered", async () => {
    const { source, tools } = await open();
    const reason = new Error("no longer wanted");
    const outcome = await source.list(AbortSignal.abort(reason)).then(() => "listed", (error: unknown) => error);
    // A source that has its list at hand may answer all the same.
    expect([reason, "listed"]).toContain(outcome);
    expect((await source.list(alive())).tools).toHaveLength(tools.length);
  });
}

function callSuite({ open, patienceMs }: Suite): void {
  test("runs a tool by the name it listed, many at once", async () => {
    const { source, answered } = await open();
    await source.list(alive());
    expect(await Promise.all([1, 2, 3].map(() => call(source, answered)))).toEqual([answered.answer, answered.answer, answered.answer]);
  });

  test("a tool's own failure is a ToolError with its code, and the source is as well as before", async () => {
    const { source, refused, answered } = await open();
    await source.list(alive());
    const error = await failureOf(call(source, refused));
    expect([ToolError.is(error), (error as ToolError).code]).toEqual([true, refused.code]);
    expect(source.state.kind).toBe("ready");
    expect(await call(source, answered)).toEqual(answered.answer);
  });

  test("a name that it did not list is a ToolError", async () => {
    const { source } = await open();
    await source.list(alive());
    expect(ToolError.is(await failureOf(call(source, { name: "no_such_tool_here", args: {} })))).toBe(true);
  });

  test("a call stops when its signal aborts, and the calls beside it and after it are answered", async () => {
    const { source, unanswered, answered } = await open();
    await source.list(alive());
    const giveUp = new AbortController();
    const waiting = failureOf(call(source, unanswered, giveUp.signal));
    expect(await call(source, answered)).toEqual(answered.answer);
    giveUp.abort(new Error("the deadline"));
    expect(await within(waiting, patienceMs)).toBeInstanceOf(Error);
    expect(await call(source, answered)).toEqual(answered.answer);
  });

  test("an aborted signal makes no call", async () => {
    const { source, unanswered } = await open();
    await source.list(alive());
    expect(await within(failureOf(call(source, unanswered, AbortSignal.abort(new Error("too late")))), patienceMs)).toBeInstanceOf(Error);
  });
}

function closeSuite({ open, patienceMs }: Suite): void {
  test("close is idempotent, also before the first use and at once with itself", async () => {
    const { source } = await open();
    await Promise.all([source.close(), source.close()]);
    await source.close();
    const used = await open();
    await used.source.list(alive());
    await Promise.all([used.source.close(), used.source.close()]);
  });

  test("close makes calls under way fail, and calls after it", async ({ skip }) => {
    const { source, unanswered, answered, fate } = await open();
    await source.list(alive());
    if (fate === undefined) return skip("functions of this process end by their signal only");
    const waiting = failureOf(call(source, unanswered));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await source.close();
    expect(await within(waiting, patienceMs)).toBeInstanceOf(Error);
    expect(await within(failureOf(call(source, answered)), patienceMs)).toBeInstanceOf(Error);
  });
}

function fateSuite(suite: Suite): void {
  const { open, patienceMs } = suite;
  const eventually = async (what: () => Promise<void> | void): Promise<void> => vi.waitFor(what, { timeout: patienceMs, interval: 100 });

  test("a peer that is gone fails calls as SOURCE_UNAVAILABLE and is told; when it is back the source works again by itself", async ({ skip }) => {
    const { source, answered, fate, secrets } = await open();
    if (fate === undefined) return skip("there is no peer apart from the source");
    const told: SourceState[] = [];
    source.onChange(() => void told.push(source.state));
    await source.list(alive());
    await fate.goAway();
    const texts: string[] = [];
    await eventually(async () => {
      const error = await failureOf(call(source, answered));
      expect([ToolError.is(error), (error as ToolError).code]).toEqual([true, "SOURCE_UNAVAILABLE"]);
      texts.push((error as Error).message);
      expect(["down", "degraded"]).toContain(source.state.kind);
    });
    // A source that knows its tools without the peer may go on listing them.
    const failed = await source.list(alive()).then(() => undefined, (error: unknown) => error);
    if (failed !== undefined) {
      expect([CallgateError.is(failed), (failed as CallgateError).code]).toEqual([true, "SOURCE_FAILED"]);
      texts.push((failed as Error).message, JSON.stringify((failed as CallgateError).details));
    }
    texts.push(JSON.stringify(source.state), JSON.stringify(told));
    for (const secret of secrets ?? []) expect(texts.join("\n").includes(secret), "a secret is told").toBe(false);
    await fate.comeBack();
    await eventually(async () => expect((await source.list(alive())).tools).not.toHaveLength(0));
    expect(await call(source, answered)).toEqual(answered.answer);
    expect(source.state.kind).toBe("ready");
    expect(told.some(({ kind }) => kind === "down" || kind === "degraded")).toBe(true);
  });

  test("a call under way when the peer goes is SOURCE_UNAVAILABLE, and does not say that nothing was done", async ({ skip }) => {
    const { source, unanswered, fate } = await open();
    if (fate === undefined) return skip("there is no peer apart from the source");
    await source.list(alive());
    const waiting = failureOf(call(source, unanswered));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await fate.goAway();
    const error = await within(waiting, patienceMs);
    expect([ToolError.is(error), (error as ToolError).code, (error as ToolError).notApplied]).toEqual([true, "SOURCE_UNAVAILABLE", false]);
  });

  test("one bad source never hurts another", async ({ skip }) => {
    const [bad, good] = [await open(), await open()];
    if (bad.fate === undefined) return skip("there is no peer apart from the source");
    await Promise.all([bad.source.list(alive()), good.source.list(alive())]);
    await bad.fate.goAway();
    await failureOf(call(bad.source, bad.answered));
    expect(await call(good.source, good.answered)).toEqual(good.answered.answer);
    await bad.source.close();
    expect(await call(good.source, good.answered)).toEqual(good.answered.answer);
    expect(good.source.state.kind).toBe("ready");
  });

  test("a change of its tools is told, and the next list has it", async ({ skip }) => {
    const { source, tools, fate } = await open();
    if (fate?.changeTools === undefined) return skip("its tools do not change, or nobody says so");
    let changes = 0;
    source.onChange(() => void changes++);
    await source.list(alive());
    const before = changes;
    await fate.changeTools();
    await eventually(() => expect(changes).toBeGreaterThan(before));
    await eventually(async () => expect((await source.list(alive())).tools.map(({ tool }) => tool.name).sort()).not.toEqual([...tools].sort()));
  });
}

function call(source: Source, { name, args }: SampleCall, signal: AbortSignal = alive()): Promise<unknown> {
  return source.call(name, args, contextOf(signal));
}

function contextOf(signal: AbortSignal): ToolContext {
  const log = (): void => undefined;
  return {
    signal,
    principal: localPrincipal,
    runId: "run_1",
    callId: "run_1.1",
    idempotencyKey: "key_1",
    log: { debug: log, info: log, warn: log, error: log },
    progress: log,
    reportCost: log,
    attach: () => Promise.reject(new Error("nothing is attached here")),
  };
}

/** What it fails with. A call that succeeds is told as such, which is no error of any kind. */
async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then((value) => ({ succeeded: value }), (error: unknown) => error);
}

async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  const tooLate = new Promise<never>((_resolve, reject) => late.signal.addEventListener("abort", () => reject(new Error(`nothing came within ${ms} ms`)), { once: true }));
  return await Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}
