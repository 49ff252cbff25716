import type { ToolContext } from "@callgate/contract";
import { localPrincipal, ToolError } from "@callgate/contract";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openHttpPeer } from "./fixtures/http-peer.ts";
import type { HttpFlavor, HttpPeer } from "./fixtures/http-peer.ts";
import { SignInNeeded } from "./http-failure.ts";

const open: HttpPeer[] = [];
afterEach(async () => {
  for (const peer of open.splice(0)) {
    await peer.source.close();
    await peer.dispose();
  }
});

async function peerOf(...given: Parameters<typeof openHttpPeer>): Promise<HttpPeer> {
  const peer = await openHttpPeer(...given);
  open.push(peer);
  return peer;
}

const signal = (): AbortSignal => AbortSignal.timeout(20_000);

function contextOf(progress: [string, number | undefined][] = []): ToolContext {
  const log = (): void => undefined;
  return {
    signal: signal(),
    principal: localPrincipal,
    runId: "run_1",
    callId: "call_1",
    idempotencyKey: "key_1",
    log: { debug: log, info: log, warn: log, error: log },
    progress: (message, fraction) => void progress.push([message, fraction]),
    reportCost: log,
    attach: () => Promise.reject(new Error("not used")),
  };
}

const call = ({ source }: HttpPeer, name: string, args: unknown = {}): Promise<unknown> => source.call(name, args, contextOf());

async function toolError(promise: Promise<unknown>): Promise<ToolError> {
  const error = await promise.then((value) => Promise.reject(new Error(`resolved: ${JSON.stringify(value)}`)), (reason: unknown) => reason);
  expect(ToolError.is(error), String(error)).toBe(true);
  return error as ToolError;
}

const flavors: readonly HttpFlavor[] = ["streamable", "modern", "sse"];

describe("createMcpSource over HTTP", () => {
  test.each(flavors)("whole numbers keep their digits both ways (%s)", async (flavor) => {
    const peer = await peerOf(flavor);
    expect(await call(peer, "int64", { id: 1234567890123456789n })).toEqual({ id: 1234567890123456789n, same: true });
  });

  test.each(flavors)("headers go with every request, and are in no error (%s)", async (flavor) => {
    const peer = await peerOf(flavor);
    await peer.source.list(signal());
    expect(peer.seen.length).toBeGreaterThan(1);
    expect(new Set(peer.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer key-of-the-peer-1"]));
    peer.answerWith = { status: 500, text: "you sent Bearer key-of-the-peer-1, which is odd" };
    const { message } = await toolError(call(peer, "echo"));
    expect(message).not.toContain("key-of-the-peer-1");
  });

  test("a server of the older transport is found without being told", async () => {
    const peer = await peerOf("sse");
    expect(await call(peer, "echo", { a: 1 })).toEqual({ got: { a: 1 } });
    expect(peer.seen.some(({ http }) => http === "GET")).toBe(true);
  });

  test("an answer may come as events, with progress before it", async () => {
    const peer = await peerOf("streamable");
    const progress: [string, number | undefined][] = [];
    expect(await peer.source.call("steps", {}, contextOf(progress))).toEqual({ events: true });
    expect(progress[0]).toEqual(["1/2", 0.5]);
  });

  test("a forgotten session is begun anew, and the call is made once", async () => {
    const peer = await peerOf("streamable");
    await peer.source.list(signal());
    peer.forgetSessions();
    expect(await call(peer, "echo", { a: 2 })).toEqual({ got: { a: 2 } });
    expect(peer.seen.filter(({ rpc }) => rpc === "initialize")).toHaveLength(2);
    expect(peer.source.state).toEqual({ kind: "ready" });
  });

  test("mcp-014: an answer whose stream breaks off fails its call at once, and the others go on", async () => {
    const peer = await peerOf("streamable");
    await peer.source.list(signal());
    const [cut, echo] = await Promise.all([toolError(call(peer, "cut")), call(peer, "echo", { a: 3 })]);
    expect([cut.code, cut.notApplied, echo]).toEqual(["SOURCE_UNAVAILABLE", false, { got: { a: 3 } }]);
    expect(cut.message).toContain("connection ended before the answer");
  });

  test.each(["streamable", "modern"] as const)("an answer over the bound fails its own call (%s)", async (flavor) => {
    const peer = await peerOf(flavor, { maxMessageBytes: 100_000 });
    const error = await toolError(call(peer, "huge", { bytes: 200_000 }));
    expect([error.code, await call(peer, "echo", { a: 4 })]).toEqual(["VALUE_TOO_LARGE", { got: { a: 4 } }]);
  });

  test.each<[number, object]>([
    [400, { code: "SOURCE_UNAVAILABLE", notApplied: true, retryable: false }],
    [403, { code: "SOURCE_UNAVAILABLE", notApplied: true, retryable: false }],
    [429, { code: "SOURCE_UNAVAILABLE", notApplied: true, retryable: true }],
    [502, { code: "SOURCE_UNAVAILABLE", notApplied: false, retryable: true }],
  ])("HTTP %d is told as such, with whether the call was taken", async (status, expected) => {
    const peer = await peerOf("streamable");
    await peer.source.list(signal());
    peer.answerWith = { status, text: "not now" };
    const error = await toolError(call(peer, "echo"));
    expect(error).toMatchObject(expected);
    expect(error.message).toContain(`HTTP ${status}: not now`);
    peer.answerWith = undefined;
    expect(await call(peer, "echo", { a: 5 })).toEqual({ got: { a: 5 } });
  });

  test("a server that wants credentials is told so, in a state of its own, and works once it has them", async () => {
    const peer = await peerOf("streamable");
    peer.answerWith = { status: 401, headers: { "www-authenticate": "Bearer" } };
    await expect(peer.source.list(signal())).rejects.toMatchObject({ code: "SOURCE_FAILED", message: expect.stringContaining("asks for credentials") as string });
    expect(peer.source.state.kind).toBe("auth_needed");
    peer.answerWith = undefined;
    await vi.waitFor(async () => expect((await peer.source.list(signal())).tools).not.toHaveLength(0), { timeout: 10_000 });
    expect(peer.source.state.kind).toBe("ready");
  });

  test("a token that is good for too little is told with what is missing, and the source is as well as before", async () => {
    const peer = await peerOf("streamable");
    await peer.source.list(signal());
    peer.answerWith = { status: 403, headers: { "www-authenticate": 'Bearer error="insufficient_scope", scope="notes:write notes:read"' } };
    const error = await toolError(call(peer, "echo"));
    expect([error.notApplied, error.details, peer.source.state.kind]).toEqual([true, { scope: "notes:write notes:read" }, "ready"]);
    expect(error.message).toContain("callgate auth login scripted --scope notes:write --scope notes:read");
  });

  test("a token is asked for with every request, and one that does not count is told", async () => {
    let token = "first";
    const refused: string[] = [];
    const auth = {
      token: () => Promise.resolve(token),
      onUnauthorized: () => {
        refused.push(token);
        if (token === "third") throw new SignInNeeded("needs somebody to sign in: callgate auth login scripted");
        token = "second";
        peer.answerWith = undefined;
        return Promise.resolve();
      },
    };
    const peer = await peerOf("modern", { auth });
    await peer.source.list(signal());
    peer.answerWith = { status: 401 };
    expect(await call(peer, "echo", { a: 6 })).toEqual({ got: { a: 6 } });
    expect(peer.seen.at(-1)?.headers.authorization).toBe("Bearer second");
    token = "third";
    peer.answerWith = { status: 401 };
    const error = await toolError(call(peer, "echo"));
    expect([error.code, error.notApplied, refused]).toEqual(["SOURCE_UNAVAILABLE", true, ["first", "third"]]);
    expect(error.message).toContain("callgate auth login scripted");
    expect(peer.source.state.kind).toBe("auth_needed");
  });

  test("a tool that asks for headers gets them, plain or in Base64, and none without the argument", async () => {
    const peer = await peerOf("modern");
    await peer.source.list(signal());
    for (const region of ["eu-west", " à part", undefined]) await call(peer, "routed", region === undefined ? {} : { region });
    expect(peer.seen.filter(({ rpc }) => rpc === "tools/call").map(({ headers }) => headers["mcp-param-region"])).toEqual(["eu-west", `=?base64?${Buffer.from(" à part").toString("base64")}?=`, undefined]);
  });

  test("mcp-014: a silent server is given up after idleTimeoutMs, long before the deadline", async () => {
    const peer = await peerOf("streamable", { idleTimeoutMs: 300 });
    const error = await toolError(call(peer, "hang"));
    expect([error.code, error.message]).toEqual(["TOOL_TIMEOUT", expect.stringContaining("silent for 0.3 s")]);
    await vi.waitFor(() => expect(peer.seen.some(({ rpc }) => rpc === "notifications/cancelled")).toBe(true));
  });
});
