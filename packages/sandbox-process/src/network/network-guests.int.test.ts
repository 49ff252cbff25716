import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { GuestConnection, ProgramLanguage } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProcessDriver } from "../driver.ts";
import { engineLauncher } from "../fixtures/engine-launcher.ts";
import { testLaunchers } from "../fixtures/launchers.ts";
import { noOtherUser, runAsUser } from "../fixtures/run-as-user.ts";
import { runSource } from "../fixtures/run-source.ts";
import { whyNoEngine } from "../fixtures/test-engine.ts";
import { pythonLanguage, shellLanguage } from "../language/guest-language.ts";
import { nodeLanguage } from "../language/node-language.ts";
import type { Launcher } from "../launcher/launcher.ts";
import { createUnsafeLocalLauncher } from "../launcher/local/local-launcher.ts";
import type { NetworkOptions } from "./network-policy.ts";

// That every guest has the same way out and no other, whatever stands around it. What the way refuses in all its detail is in
// network.int.test.ts, with Python in bubblewrap.

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");

interface Ran {
  readonly value: unknown;
  readonly end: unknown;
  readonly err: string;
  readonly connections: readonly GuestConnection[];
}
type Run = (language: ProgramLanguage, code: string, network?: NetworkOptions) => Promise<Ran>;

/** Text of a program that asks for addresses in turn and returns what came of each. */
const asking: Readonly<Record<string, (urls: readonly string[]) => string>> = {
  python: (urls) => `
import urllib.request, urllib.error
def get(url):
    try: return f"200 {urllib.request.urlopen(url, timeout=20).read().decode()}"
    except urllib.error.HTTPError as e: return f"{e.code} {e.reason}"
    except OSError as e: return f"failed {e}"
[get(url) for url in ${JSON.stringify(urls)}]`,
  javascript: (urls) => `(async ($callgate) => {
const get = async (url) => { try { const r = await fetch(url); return r.status + " " + (r.status === 200 ? await r.text() : r.statusText); } catch (e) { return "failed " + (e.cause?.message ?? e.message); } };
const all = []; for (const url of ${JSON.stringify(urls)}) all.push(await get(url)); return all; })`,
};

/** What a program reaches that does not ask the proxy: a port of this machine, a name, a datagram; and whether it has a proxy. */
const around: Readonly<Record<string, (port: number) => string>> = {
  python: (port) => `
import os, socket
def t(f):
    try: f(); return "reached"
    except OSError: return "refused"
def datagram():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); s.sendto(b"x", ("192.0.2.1", 53))
[t(lambda: socket.create_connection(("127.0.0.1", ${port}), 2)), t(lambda: socket.create_connection(("192.0.2.1", 80), 2)), t(lambda: socket.getaddrinfo("example.com", 80)), t(datagram), [k for k in os.environ if "proxy" in k.lower()] != []]`,
  javascript: (port) => `(async ($callgate) => {
const net = require("node:net"), dns = require("node:dns/promises"), dgram = require("node:dgram");
const connects = (port, host) => new Promise((tell) => { const s = net.connect({ port, host, timeout: 2000 }); s.once("connect", () => { s.destroy(); tell("reached"); }); s.once("error", () => tell("refused")); s.once("timeout", () => { s.destroy(); tell("refused"); }); });
const looks = () => dns.lookup("example.com").then(() => "reached", () => "refused");
const sends = () => new Promise((tell) => { const s = dgram.createSocket("udp4"); s.once("error", () => tell("refused")); s.send("x", 53, "192.0.2.1", (e) => { tell(e ? "refused" : "reached"); s.close(); }); });
return [await connects(${port}, "127.0.0.1"), await connects(80, "192.0.2.1"), await looks(), await sends(), Object.keys(process.env).some((k) => /proxy/i.test(k))]; })`,
};

let server: Server;
let port = 0;
let requests: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.url === "/away") response.writeHead(302, { location: "http://192.0.2.1/" }).end();
    else response.end("served");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function testWayOut(languages: readonly ProgramLanguage[], run: Run): void {
  test.each(languages)("%s: without sandbox.network nothing is reached, in any way", async (language) => {
    requests = [];
    const { value, end } = await run(language, around[language]?.(port) ?? "");
    expect(value, JSON.stringify(end)).toEqual(["refused", "refused", "refused", "refused", false]);
    expect(requests).toEqual([]);
  }, 120_000);

  test.each(languages)("%s: what is allowed answers, all else is refused and recorded, a redirect does not widen, and no way leads around it", async (language) => {
    requests = [];
    const network = { allow: [`127.0.0.1:${port}`, "10.9.8.7:80"], unsafeRanges: ["127.0.0.1/32"] };
    const { value, connections, end, err } = await run(language, asking[language]?.([`http://127.0.0.1:${port}/`, `http://127.0.0.1:${port === 65_535 ? port - 1 : port + 1}/`, "http://10.9.8.7/", `http://127.0.0.1:${port}/away`, "http://example.com/", `http://127.0.0.1:${port}/again`]) ?? "", network);
    const said = value as readonly string[];
    expect(said, `${JSON.stringify(end)} ${err}`).toHaveLength(6);
    expect([said[0], said[5]]).toEqual(["200 served", "200 served"]);
    for (const index of [1, 2, 3, 4]) expect(said[index], said.join("\n")).toMatch(/403|failed/);
    expect(requests).toEqual(["/", "/away", "/again"]);
    const told = connections.map(({ host, verdict, rule }) => [host, rule ?? verdict].join(" "));
    expect(new Set(told)).toEqual(new Set(["127.0.0.1 allowed", "127.0.0.1 not-in-allow", "10.9.8.7 denied-range", "192.0.2.1 not-in-allow", "example.com not-in-allow"]));
    const { value: beside } = await run(language, around[language]?.(port) ?? "", network);
    expect(beside).toEqual(["refused", "refused", "refused", "refused", true]);
  }, 120_000);
}

function runIn(create: () => Launcher): Run {
  return async (language, code, network) => {
    const driver = createProcessDriver({ launcher: create(), languages: [pythonLanguage, shellLanguage, nodeLanguage()], warm: 0, ...(network === undefined ? {} : { network }) });
    const { value, end, err, outputs } = await runSource(driver, code, { language });
    await driver.close();
    return { value, end, err, connections: outputs.flatMap((output) => (output.kind === "connection" ? [output.connection] : [])) };
  };
}

describe.skipIf(bubblewrap?.skip !== undefined)(`the way out in bubblewrap${bubblewrap?.skip === undefined ? "" : ` (skipped: ${bubblewrap.skip})`}`, () => {
  testWayOut(["python", "javascript"], runIn(() => bubblewrap?.create() ?? createUnsafeLocalLauncher()));
});

const noUser = bubblewrap?.skip ?? noOtherUser;
describe.skipIf(noUser !== undefined)(`the way out in bubblewrap, as an ordinary user${noUser === undefined ? "" : ` (skipped: ${noUser})`}`, () => {
  testWayOut(["python", "javascript"], async (language, code, network) => {
    const [result] = await runAsUser({ ...(network === undefined ? {} : { network }), programs: [{ id: "way", language, code }] });
    if (result === undefined) throw new Error("nothing was run");
    return result;
  });
});

for (const kind of ["docker", "podman"] as const) {
  const skip = whyNoEngine(kind);
  describe.skipIf(skip !== undefined)(`the way out in ${kind}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    testWayOut(["python"], runIn(engineLauncher(kind)));
  });
}
