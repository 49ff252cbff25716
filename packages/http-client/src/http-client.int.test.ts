import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import type { Credentials } from "./auth/credentials.ts";
import { createFetch } from "./create-fetch.ts";
import { startServer } from "./fixtures/local-server.ts";
import { createHttpClient } from "./http-client.ts";
import type { HttpClient, HttpClientOptions } from "./http-client.ts";
import type { HttpRequest } from "./http-request.ts";
import type { HttpResult } from "./http-result.ts";

const opened: HttpClient[] = [];
afterAll(async () => void (await Promise.all(opened.map((client) => client.close()))));

function clientOf(options: HttpClientOptions): HttpClient {
  const client = createHttpClient(options);
  opened.push(client);
  return client;
}

const elsewhere = await startServer((_request, response) => response.end("elsewhere"));
const server = await startServer(({ path, body }, response) => {
  const to = new URLSearchParams(path.split("?")[1]).get("to") ?? "";
  if (path.startsWith("/redirect")) response.writeHead(Number(path.slice(10, 13)), { location: to }).end();
  else if (path === "/echo") response.end(body);
  else if (path === "/silent") return;
  else if (path === "/pause") response.write("begin");
  else if (path === "/drip") drip(() => !response.write("."), response);
  else if (path === "/large") response.end("x".repeat(2_000));
  else if (path === "/break") response.write("half", () => response.destroy());
  else if (path === "/gone") response.destroy();
  else if (path === "/gzip") response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed"));
  else if (path === "/br") response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync("packed"));
  else if (path === "/bomb") response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  else if (path === "/two-layers") response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(gzipSync(gzipSync("packed")));
  else if (path === "/no-gzip") response.writeHead(200, { "content-encoding": "gzip" }).end("not packed");
  else if (path === "/headers") response.writeHead(200, Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${n}`, "y".repeat(100)]))).end();
  else response.end("ok");
});
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));

function drip(write: () => void, response: NodeJS.EventEmitter): void {
  const timer = setInterval(write, 20);
  response.once("close", () => clearInterval(timer));
}

const named = clientOf({ namedOrigins: [server.origin], bounds: { responseBytes: 1_000 } });
const at = (path: string): URL => new URL(path, server.origin);
const get = (path: string, more: Partial<HttpRequest> = {}): Promise<HttpResult> => named.send({ method: "GET", url: at(path), ...more });
const textOf = (result: HttpResult): string => (result.kind === "answered" ? Buffer.from(result.bytes).toString() : `${result.reason}: ${result.message}`);

describe("http-011: where a request may go", () => {
  test.each(["http://169.254.169.254/latest", "http://[::ffff:127.0.0.1]/", "http://0x7f.1/", "http://2130706433/", "http://127.1/", "http://localhost./", "http://①②⑦.⓪.⓪.①/", "http://[64:ff9b::10.0.0.1]/"])("%s is refused, and nothing is sent", async (url) => {
    const client = clientOf({ resolve: () => Promise.resolve(["127.0.0.1"]) });
    expect(await client.send({ method: "GET", url: new URL(url) })).toMatchObject({ kind: "failed", reason: "refused", isSent: false, message: expect.stringContaining("names this origin") });
  });

  test("other schemes and URLs with a password are refused", async () => {
    for (const url of ["file:///etc/passwd", "ftp://a.test/", `http://ann:word@127.0.0.1:${server.port}/`]) expect(await named.send({ method: "GET", url: new URL(url) })).toMatchObject({ reason: "refused", isSent: false });
  });

  test("positive control: the origin that the configuration names answers, and no other port of that host does", async () => {
    expect(textOf(await get("/"))).toBe("ok");
    expect(await named.send({ method: "GET", url: new URL(elsewhere.origin) })).toMatchObject({ reason: "refused" });
  });

  test("a name is connected to at the address that was judged, and judged anew at the next connection", async () => {
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    const asked: string[] = [];
    const client = clientOf({
      namedOrigins: [`http://api.test:${server.port}`],
      resolve: (host) => {
        asked.push(host);
        return Promise.resolve(answers[Math.min(asked.length, 2) - 1] ?? []);
      },
    });
    const url = new URL(`http://api.test:${server.port}/`);
    // `api.test` is nobody's name: a second look-up by the connection itself would fail.
    expect(textOf(await client.send({ method: "GET", url, headers: [["connection-note", "x"]] }))).toBe("ok");
    expect(server.seen.at(-1)?.headers.host).toBe(`api.test:${server.port}`);
    const again = clientOf({ namedOrigins: [url.origin], resolve: () => Promise.resolve(["169.254.169.254"]) });
    expect(await again.send({ method: "GET", url })).toMatchObject({ reason: "refused", message: expect.stringContaining("A name never leads there") });
    expect(asked).toEqual(["api.test"]);
  });

  test("one private address among public ones refuses a name", async () => {
    const client = clientOf({ resolve: () => Promise.resolve(["93.184.216.34", "10.0.0.1"]) });
    expect(await client.send({ method: "GET", url: new URL("https://api.test/") })).toMatchObject({ reason: "refused", message: expect.stringContaining("10.0.0.1") });
  });

  test("what has no address, and where nothing listens, is told apart, and was not sent", async () => {
    const lost = clientOf({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    expect(await lost.send({ method: "POST", url: new URL("https://api.test/") })).toMatchObject({ reason: "unresolved", isSent: false, isTransient: true });
    const closed = await closedPort();
    expect(await clientOf({ namedOrigins: [closed] }).send({ method: "POST", url: new URL(closed) })).toMatchObject({ reason: "unreachable", isSent: false, message: expect.stringContaining("nothing listens") });
  });
});

async function closedPort(): Promise<string> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  await new Promise((resolve) => connect(port, "127.0.0.1").once("error", resolve));
  return `http://127.0.0.1:${port}`;
}

describe("redirects", () => {
  const keys: Credentials = { origins: new Set([server.origin]), apply: ({ url, headers }) => Promise.resolve({ kind: "applied", url, headers: [...headers, ["authorization", "Bearer s3cret-token"]] }), refused: () => false, secrets: () => ["s3cret-token"], problem: () => undefined };

  test("within the origin are followed; 303 and 302 of a POST ask with GET, 307 repeats the request", async () => {
    expect(textOf(await get("/redirect/302?to=/"))).toBe("ok");
    for (const [status, method] of [[303, "GET"], [302, "GET"], [307, "POST"]] as const) {
      await named.send({ method: "POST", url: at(`/redirect/${status}?to=/echo`), headers: [["content-type", "text/plain"]], body: "sent" });
      expect(server.seen.at(-1)).toMatchObject({ method, path: "/echo", body: method === "POST" ? "sent" : "" });
    }
  });

  test("http-014: to another origin are refused by default", async () => {
    const before = elsewhere.seen.length;
    expect(await get(`/redirect/302?to=${elsewhere.origin}/`, { credentials: keys })).toMatchObject({ reason: "redirect", isSent: true, message: expect.stringContaining("another origin") });
    expect(elsewhere.seen).toHaveLength(before);
  });

  test("http-014: where one is allowed, credentials and headers that could be some stay behind", async () => {
    const client = clientOf({ namedOrigins: [server.origin, elsewhere.origin], redirectOrigins: [elsewhere.origin] });
    const result = await client.send({ method: "GET", url: at(`/redirect/302?to=${elsewhere.origin}/`), headers: [["accept", "text/plain"], ["x-api-key", "k"], ["cookie", "c=1"]], credentials: keys });
    expect(textOf(result)).toBe("elsewhere");
    expect(server.seen.at(-1)?.headers).toMatchObject({ "authorization": "Bearer s3cret-token", "x-api-key": "k" });
    const { headers } = elsewhere.seen.at(-1) ?? {};
    expect(headers).toMatchObject({ accept: "text/plain" });
    for (const name of ["authorization", "x-api-key", "cookie"]) expect(headers).not.toHaveProperty(name);
  });

  test("http-011: are judged anew", async () => {
    const client = clientOf({ namedOrigins: [server.origin], redirectOrigins: "any" });
    for (const to of ["http://10.0.0.1/", elsewhere.origin, "http://169.254.169.254/"]) expect(await client.send({ method: "GET", url: at(`/redirect/302?to=${to}`) })).toMatchObject({ reason: "refused" });
    expect(await client.send({ method: "GET", url: at("/redirect/302?to=file:///etc/passwd") })).toMatchObject({ kind: "failed" });
  });

  test("that lead in a circle end", async () => {
    const loop = await startServer((_request, response) => response.writeHead(302, { location: "/again" }).end());
    expect(await clientOf({ namedOrigins: [loop.origin] }).send({ method: "GET", url: new URL(loop.origin) })).toMatchObject({ reason: "redirect", message: expect.stringContaining("more than 5") });
    expect(loop.seen).toHaveLength(6);
  });

  test("http-013: credentials go to their own origins only", async () => {
    const client = clientOf({ namedOrigins: [server.origin, elsewhere.origin] });
    await client.send({ method: "GET", url: new URL(elsewhere.origin), credentials: keys });
    expect(elsewhere.seen.at(-1)?.headers).not.toHaveProperty("authorization");
  });
});

describe("http-010: bounds of an answer", () => {
  test("one that does not begin, pauses, or drips without an end runs into its own clock", async () => {
    expect(await get("/silent", { bounds: { firstByteMs: 50 } })).toMatchObject({ reason: "timed_out", isSent: true, message: expect.stringContaining("did not begin within 50 ms") });
    expect(await get("/pause", { bounds: { idleMs: 50 } })).toMatchObject({ reason: "timed_out", message: expect.stringContaining("paused for more than 50 ms") });
    expect(await get("/drip", { bounds: { totalMs: 300 } })).toMatchObject({ reason: "timed_out", message: expect.stringContaining("not complete within 300 ms") });
  });

  test("one over the bound is given up while it is read", async () => {
    expect(await get("/large")).toMatchObject({ reason: "too_large", message: expect.stringContaining("larger than 1000 bytes") });
    expect(textOf(await get("/large", { bounds: { responseBytes: 2_000 } }))).toHaveLength(2_000);
  });

  test("a small one that unpacks to 64 MiB ends at the bound; two layers are not unpacked", async () => {
    expect(await get("/bomb")).toMatchObject({ reason: "too_large" });
    expect(await get("/two-layers")).toMatchObject({ reason: "malformed" });
    expect(await get("/no-gzip")).toMatchObject({ reason: "malformed", message: expect.stringContaining("is no gzip") });
    expect([textOf(await get("/gzip")), textOf(await get("/br"))]).toEqual(["packed", "packed"]);
  });

  test("a head larger than a head may be is refused", async () => expect(await get("/headers")).toMatchObject({ reason: "too_large" }));

  test("one that breaks off, or never comes, is lost", async () => {
    for (const path of ["/break", "/gone"]) expect(await get(path)).toMatchObject({ reason: "lost", isSent: true, isTransient: true });
  });

  test("a caller who gives up ends the request", async () => {
    expect(await get("/silent", { signal: AbortSignal.timeout(20) })).toMatchObject({ reason: "aborted" });
    expect(await get("/", { signal: AbortSignal.abort() })).toMatchObject({ reason: "aborted" });
  });
});

describe("http-015: what cannot be put into a head", () => {
  test.each([
    ["x-a", "b\r\nX-Admin: 1"],
    ["x-a", "b\nc"],
    ["x-a", "b\0"],
    ["x-a: b\r\nx-admin", "1"],
    ["", "b"],
    ["transfer-encoding", "chunked"],
    ["Content-Length", "3"],
    ["host", "admin.test"],
    ["connection", "x-a"],
    ["proxy-authorization", "x"],
    ["x-a", "日本"],
  ])("%j: %j", async (name, value) => {
    const before = server.seen.length;
    expect(await get("/", { headers: [[name, value]] })).toMatchObject({ reason: "refused", isSent: false });
    expect(server.seen).toHaveLength(before);
  });

  test("nor into a method", async () => {
    for (const method of ["GET / HTTP/1.1\r\nX: y\r\n\r\nGET", "get", "CONNECT", ""]) expect(await named.send({ method, url: at("/") })).toMatchObject({ reason: "refused" });
  });
});

describe("createFetch", () => {
  test("is fetch as libraries know it: body, headers, status, url and abort", async () => {
    const fetch = createFetch(named);
    const response = await fetch(at("/echo"), { method: "POST", body: new URLSearchParams({ a: "1" }) });
    expect([response.status, response.url, await response.text()]).toEqual([200, at("/echo").href, "a=1"]);
    expect(server.seen.at(-1)?.headers["content-type"]).toContain("application/x-www-form-urlencoded");
    await expect(fetch("http://10.0.0.1/")).rejects.toMatchObject({ name: "HttpFailed", failure: { reason: "refused" } });
    await expect(fetch(at("/silent"), { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: "TimeoutError" });
  });
});
