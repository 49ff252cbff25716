import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import type { GuestConnection, SandboxDriver } from "@callgate/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createProcessDriver } from "../driver.ts";
import { createAuthority } from "../fixtures/certificates.ts";
import { testLaunchers } from "../fixtures/launchers.ts";
import { runSource } from "../fixtures/run-source.ts";
import type { SourceRun } from "../fixtures/run-source.ts";
import { createUnsafeLocalLauncher } from "../launcher/local/local-launcher.ts";

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");
const authority = createAuthority();
const skip = bubblewrap?.skip ?? (authority === undefined ? "needs openssl for its certificates" : undefined);

interface Heard {
  readonly line: string;
  readonly host: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

function listening(server: { once(event: "listening", then: () => void): unknown; address(): unknown }): Promise<number> {
  return new Promise((resolve) => server.once("listening", () => resolve((server.address() as AddressInfo).port)));
}

function connectionsOf({ outputs }: SourceRun): readonly GuestConnection[] {
  return outputs.flatMap((output) => (output.kind === "connection" ? [output.connection] : []));
}

/** A raw conversation with the proxy, as a hostile program has it: bytes out, all that comes back. */
const speak = `
import socket, time
def speak(data, door=None, wait=0.6):
    s = socket.socket(socket.AF_UNIX) if door else socket.socket()
    s.connect(door or ("127.0.0.1", 3128))
    s.sendall(data)
    s.settimeout(wait)
    out = b""
    try:
        while True:
            piece = s.recv(65536)
            if not piece: break
            out += piece
    except TimeoutError: pass
    s.close()
    return out.decode("latin1")
`;

describe.skipIf(skip !== undefined)(`network of guests, bubblewrap${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
  let doors: string;
  const heard: Heard[] = [];
  const open = new Set<Socket>();
  let lookups: string[] = [];
  let server: Server;
  let tls: ReturnType<typeof createTlsServer>;
  let port = 0;
  let tlsPort = 0;
  let closed: SandboxDriver;
  let driver: SandboxDriver;
  /** Names of the test; "rebind.test" is loopback from its second look-up on. */
  const resolve = (host: string): Promise<readonly string[]> => {
    lookups.push(host);
    return Promise.resolve(host === "inner.test" ? ["10.9.8.7"] : ["127.0.0.1"]);
  };

  beforeAll(async () => {
    // Other tests open doors at the same time: those of this one are in a folder of its own.
    doors = mkdtempSync(join(tmpdir(), "cg-doors-"));
    chmodSync(doors, 0o711);
    vi.stubEnv("TMPDIR", doors);
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        heard.push({ line: `${request.method} ${request.url}`, host: request.headers.host, headers: request.headers, body });
        if (request.url === "/away") return response.writeHead(302, { location: "http://evil.test/" }).end();
        if (request.url === "/large") return response.end("x".repeat(3_000_000));
        if (request.url === "/slow") return response.write("begun"); // Never ends by itself.
        return response.end(`served ${request.method} ${body}`);
      });
    }).listen(0, "127.0.0.1");
    server.on("connection", (socket) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    });
    port = await listening(server);
    const { cert, key } = authority?.issue("api.test") ?? { cert: "", key: "" };
    tls = createTlsServer({ cert, key }, (socket) => {
      socket.on("error", () => undefined);
      socket.end(`tls ${socket.servername || "nameless"}`);
    }).listen(0, "127.0.0.1");
    tlsPort = await listening(tls);
    const launcher = bubblewrap?.create() ?? createUnsafeLocalLauncher();
    const allow = [`api.test:${port}`, `api.test:${tlsPort}`, `other.test:${tlsPort}`, `inner.test:80`, `127.0.0.1:${tlsPort}`, `api.test:9`];
    driver = createProcessDriver({ launcher, network: { allow, unsafeRanges: ["127.0.0.0/8"], resolve } });
    closed = createProcessDriver({ launcher });
  });
  beforeEach(() => {
    heard.length = 0;
    lookups = [];
  });
  afterAll(async () => {
    await Promise.all([driver.close(), closed.close()]);
    server.closeAllConnections();
    server.close();
    tls.close();
    expect(readdirSync(doors).filter((name) => name.startsWith("callgate-door-"))).toEqual([]);
    vi.unstubAllEnvs();
    rmSync(doors, { recursive: true, force: true });
  });

  const get = (url: string): string => `import urllib.request, urllib.error\ntry:\n    r = urllib.request.urlopen("${url}", timeout=8).read().decode()\nexcept urllib.error.HTTPError as e:\n    r = f"{e.code} {e.reason} | {e.read().decode()}"\nr`;

  test("is off unless configured: no proxy, no door, nothing answers", async () => {
    const { value } = await runSource(closed, `import os, socket\ndef t(f):\n    try: f(); return "reached"\n    except OSError: return "refused"\n[[k for k in os.environ if "proxy" in k.lower()], os.path.exists("/run/callgate/door"), t(lambda: socket.create_connection(("127.0.0.1", 3128), 1)), t(lambda: socket.create_connection(("127.0.0.1", ${port}), 1)), t(lambda: socket.getaddrinfo("api.test", 80))]`);
    expect(value).toEqual([[], false, "refused", "refused", "refused"]);
  });

  test("positive control: an allowed host answers Python, and is recorded with its bytes", async () => {
    const run = await runSource(driver, get(`http://api.test:${port}/hello?x=1`));
    expect(run.value).toBe("served GET ");
    expect(heard).toMatchObject([{ line: "GET /hello?x=1", host: `api.test:${port}` }]);
    expect(lookups).toEqual(["api.test"]);
    const [connection] = connectionsOf(run);
    expect(connection).toMatchObject({ host: "api.test", port, verdict: "allowed" });
    expect(connection?.bytesSent).toBeGreaterThan(30);
    expect(connection?.bytesReceived).toBeGreaterThan(30);
  });

  test("works for a shell program and what it starts", async () => {
    const run = await runSource(driver, `python3 - <<'END'\n${get(`http://api.test:${port}/`)}\nprint(r)\nEND`, { language: "shell" });
    expect(run.out).toBe("served GET ");
    expect(connectionsOf(run)).toHaveLength(1);
  });

  test("large answers, bodies of known and unknown length, and a body of DELETE go through whole", async () => {
    const code = `import urllib.request as u, http.client\nlarge = len(u.urlopen("http://api.test:${port}/large").read())\nposted = u.urlopen(u.Request("http://api.test:${port}/", data=b"abc", method="POST")).read().decode()\nc = http.client.HTTPConnection("127.0.0.1", 3128)\nc.request("DELETE", "http://api.test:${port}/", body=iter([b"de", b"f"]), headers={"Transfer-Encoding": "chunked"}, encode_chunked=True)\n[large, posted, c.getresponse().read().decode()]`;
    const run = await runSource(driver, code);
    expect(run.value, JSON.stringify([run.end, run.err])).toEqual([3_000_000, "served POST abc", "served DELETE def"]);
  });

  test("a refusal names the rule and what to do, to every client, and is recorded", async () => {
    const run = await runSource(driver, `${get("http://evil.test/")}\nplain = r\n${get("https://evil.test/").replace("urllib.error.HTTPError", "OSError").replace('f"{e.code} {e.reason} | {e.read().decode()}"', "str(e)")}\n[plain, r]`);
    const [plain, tunnel] = run.value as readonly string[];
    expect(plain).toMatch(/^403 Callgate: evil\.test:80 is not in sandbox\.network\.allow\. Allowed: api\.test:/);
    expect(tunnel).toMatch(/403 Callgate: evil\.test:443 is not in sandbox\.network\.allow/);
    expect(connectionsOf(run)).toEqual([80, 443].map((to) => ({ host: "evil.test", port: to, verdict: "denied", rule: "not-in-allow", bytesSent: 0, bytesReceived: 0 })));
    expect(lookups).toEqual([]);
  });

  test("a name that leads into a private network is refused by range, and nothing is connected to", async () => {
    const run = await runSource(driver, get("http://inner.test/"));
    expect(run.value).toMatch(/^403 Callgate: inner\.test:80 leads to 10\.9\.8\.7, in 10\.0\.0\.0\/8: a private network\. .*unsafeRanges/);
    expect(connectionsOf(run)).toMatchObject([{ verdict: "denied", rule: "denied-range" }]);
  });

  test("without unsafeRanges, loopback is refused under a name that is allowed", async () => {
    const strict = createProcessDriver({ launcher: bubblewrap?.create() ?? createUnsafeLocalLauncher(), network: { allow: [`api.test:${port}`], resolve }, warm: 0 });
    const run = await runSource(strict, get(`http://api.test:${port}/`));
    await strict.close();
    expect(run.value).toMatch(/^403 .*127\.0\.0\.0\/8/);
    expect(heard).toEqual([]);
  });

  test("an address is looked up once and connected to as it was checked", async () => {
    const answers = [["127.0.0.1"], ["10.9.8.7"]];
    let asked = 0;
    const rebinding = createProcessDriver({ launcher: bubblewrap?.create() ?? createUnsafeLocalLauncher(), network: { allow: [`api.test:${port}`], unsafeRanges: ["127.0.0.1/32"], resolve: () => Promise.resolve(answers[asked++] ?? []) }, warm: 0 });
    const run = await runSource(rebinding, `${get(`http://api.test:${port}/`)}\nfirst = r\n${get(`http://api.test:${port}/`)}\n[first, r[:3]]`);
    await rebinding.close();
    expect(run.value).toEqual(["served GET ", "403"]);
    expect(asked).toBe(2);
  });

  test("a redirect does not widen", async () => {
    const run = await runSource(driver, get(`http://api.test:${port}/away`));
    expect(run.value).toMatch(/^403 Callgate: evil\.test:80/);
    expect(connectionsOf(run).map(({ host, verdict }) => [host, verdict])).toEqual(expect.arrayContaining([["evil.test", "denied"], ["api.test", "allowed"]]));
  });

  test("http-018: every request of one connection is decided about, and the door itself decides the same", async () => {
    const two = `b"GET http://api.test:${port}/1 HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\nGET http://evil.test/2 HTTP/1.1\\r\\nHost: api.test:${port}\\r\\nConnection: close\\r\\n\\r\\n"`;
    const { value } = await runSource(driver, `${speak}\n[speak(${two}), speak(${two}, "/run/callgate/door")]`);
    for (const said of value as readonly string[]) expect(said).toMatch(/^HTTP\/1\.1 200 OK[^]*HTTP\/1\.1 403 Callgate: evil\.test:80/);
    expect(heard.map(({ line, host }) => [line, host])).toEqual([["GET /1", `api.test:${port}`], ["GET /1", `api.test:${port}`]]);
  });

  test("what reads in two ways is refused: smuggled lengths, split requests, spellings", async () => {
    const requests = [
      `POST http://api.test:${port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      `POST http://api.test:${port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      `GET http://api.test:${port}/ HTTP/1.1\r\nHost: a\r\nX: 1\nGET http://evil.test/ HTTP/1.1\r\n\r\n`,
      `GET http://api.test:${port}@evil.test/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET http://api.test:${port}\\@evil.test/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET http://api.test:${port}/#@evil.test/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET https://api.test:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      `GET /path HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`,
      `CONNECT api.test HTTP/1.1\r\nHost: api.test:${port}\r\n\r\n`,
      `CONNECT api.test:${port}:80 HTTP/1.1\r\nHost: a\r\n\r\n`,
      `CONNECT http://api.test:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      `CONNECT evil.test\0.api.test:${port} HTTP/1.1\r\nHost: a\r\n\r\n`,
      `CONNECT a@api.test:${port} HTTP/1.1\r\nHost: a\r\n\r\n`,
    ];
    const { value } = await runSource(driver, `${speak}\nimport json\n[speak(r.encode("latin1"), wait=0.3) for r in json.loads(${JSON.stringify(JSON.stringify(requests))})]`);
    for (const [index, said] of (value as readonly string[]).entries()) expect(said, requests[index]).toMatch(/^HTTP\/1\.1 400 /);
    expect(heard).toEqual([]);
  });

  test("a tunnel goes where it was asked for; TLS inside that names another server is cut", async () => {
    const tunnel = `
import socket, ssl
def tls(to, name):
    s = socket.create_connection(("127.0.0.1", 3128)); s.settimeout(8)
    s.sendall(f"CONNECT {to}:${tlsPort} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n".encode())
    head = s.recv(4096).decode().split("\\r\\n")[0]
    context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
    try: return head, context.wrap_socket(s, server_hostname=name).recv(100).decode()
    except OSError as error: return head, "cut"
[tls("api.test", "api.test"), tls("API.test.", "api.test"), tls("api.test", None), tls("127.0.0.1", None), tls("api.test", "other.test"), tls("127.0.0.1", "api.test")]`;
    const run = await runSource(driver, tunnel);
    const stands = "HTTP/1.1 200 Connection established";
    expect(run.value).toEqual([[stands, "tls api.test"], [stands, "tls api.test"], [stands, "tls nameless"], [stands, "tls nameless"], [stands, "cut"], [stands, "cut"]]);
    expect(connectionsOf(run).map(({ verdict, rule }) => rule ?? verdict).sort()).toEqual(["allowed", "allowed", "allowed", "allowed", "other-name-inside", "other-name-inside"]);
  });

  test("a temporary folder that others cannot pass closes no door", async () => {
    chmodSync(doors, 0o700);
    try {
      expect((await runSource(driver, get(`http://api.test:${port}/private`))).value).toBe("served GET ");
    } finally {
      chmodSync(doors, 0o711);
    }
  });

  test("an allowed host that cannot be reached is no denial", async () => {
    expect((await runSource(driver, get("http://api.test:9/"))).value).toMatch(/^502 Callgate: api\.test:9 is allowed, but the host could not connect/);
  });

  test("when the program ends, so do its connections, and they are recorded before the end", async () => {
    const run = await runSource(driver, `import socket\ns = socket.create_connection(("127.0.0.1", 3128))\ns.sendall(b"GET http://api.test:${port}/slow HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")\nwhile b"begun" not in s.recv(4096): pass\nimport sys\nsys.modules["kept"] = s\n1`);
    expect(run.value).toBe(1);
    expect(connectionsOf(run)).toMatchObject([{ host: "api.test", verdict: "allowed" }]);
    await expect.poll(() => open.size, { timeout: 30_000 }).toBe(0);
    expect(existsSync("/run/callgate/door")).toBe(false);
  });

  test("a program that opens very many connections is refused its way, and the host goes on", async () => {
    const { value } = await runSource(driver, `import socket\nopen_ones = []\nfor i in range(200):\n    try: s = socket.create_connection(("127.0.0.1", 3128), 2)\n    except OSError: break\n    open_ones.append(s)\nfor s in open_ones: s.close()\nlen(open_ones) > 10`);
    expect(value).toBe(true);
    expect((await runSource(driver, get(`http://api.test:${port}/`))).value).toBe("served GET ");
  });

  test("a launcher without walls refuses to pretend", async () => {
    const local = createProcessDriver({ launcher: createUnsafeLocalLauncher(), network: { allow: ["api.test:443"] } });
    expect((await runSource(local, "1")).end).toMatchObject({ kind: "crashed", message: expect.stringContaining("Remove sandbox.network") });
    await local.close();
  });
});
