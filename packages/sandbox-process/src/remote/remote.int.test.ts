import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import type { SandboxDriver } from "@callgate/contract";
import { afterEach, describe, expect, test } from "vitest";
import { createProcessDriver } from "../driver.ts";
import { createAuthority } from "../fixtures/certificates.ts";
import { createCuttingProxy } from "../fixtures/cutting-proxy.ts";
import type { CuttingProxy } from "../fixtures/cutting-proxy.ts";
import { testLaunchers } from "../fixtures/launchers.ts";
import { runSource, startSource } from "../fixtures/run-source.ts";
import { writeFrame } from "../frames/frame-splitter.ts";
import type { LaunchedGuest, Launcher, LaunchSpec } from "../launcher/launcher.ts";
import { createUnsafeLocalLauncher } from "../launcher/local/local-launcher.ts";
import { createGuestServer } from "./guest-server.ts";
import type { GuestServer, GuestServerOptions } from "./guest-server.ts";
import type { RemoteOptions } from "./remote-connection.ts";
import { createRemoteLauncher } from "./remote-launcher.ts";

const authority = createAuthority();
const served = authority?.issue("guests.test") ?? { cert: "", key: "" };
const local = (await testLaunchers()).find(({ name }) => name === "local-unsafe");
const skip = local?.skip ?? (authority === undefined ? "needs openssl for its certificates" : undefined);
const token = "0123456789abcdef-token";
const bounds = { memoryMiB: 256, processes: 32, workspaceMiB: 16, workspaceFiles: 256, openFiles: 64 };

/** Counts what a launcher starts: nothing may run twice. */
function counting(inner: Launcher): Launcher & { readonly launched: LaunchedGuest[]; readonly specs: LaunchSpec[] } {
  const launched: LaunchedGuest[] = [];
  const specs: LaunchSpec[] = [];
  return {
    ...inner,
    launched,
    specs,
    launch(spec) {
      specs.push(spec);
      const guest = inner.launch(spec);
      launched.push(guest);
      return guest;
    },
  };
}

const isDead = async (guest: LaunchedGuest | undefined): Promise<boolean> => guest !== undefined && (await Promise.race([guest.exited.then(() => true), new Promise<boolean>((wake) => setTimeout(() => wake(false), 20))]));

describe.skipIf(skip !== undefined)(`guests on another host${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
  const ends: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  interface Setup {
    readonly server: GuestServer;
    readonly launcher: ReturnType<typeof counting>;
    readonly proxy: CuttingProxy;
    readonly driver: SandboxDriver;
    readonly remote: (options?: Partial<RemoteOptions>) => Launcher;
  }

  async function setUp(options: Partial<GuestServerOptions> = {}, client: Partial<RemoteOptions> = {}): Promise<Setup> {
    const launcher = counting(createUnsafeLocalLauncher());
    const server = createGuestServer({ launcher, tls: served, token, ...options });
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    const proxy = await createCuttingProxy(port);
    const remote = (more: Partial<RemoteOptions> = {}): Launcher => createRemoteLauncher({ url: `tls://127.0.0.1:${proxy.port}`, token, ca: authority?.cert ?? "", ...client, ...more });
    const driver = createProcessDriver({ launcher: remote(), warm: 0 });
    ends.push(() => proxy.close(), () => server.close(), () => driver.close());
    return { server, launcher, proxy, driver, remote };
  }

  test("a program runs there: tools, output, files, value; the end leaves nothing", async () => {
    const { driver, server, launcher } = await setUp();
    const { value, out, outputs } = await runSource(driver, "from tools import demo\nprint('there')\nopen('out/a.txt', 'w').write('file')\n[demo.echo(i=i)['i'] for i in range(50)][-1]");
    expect([value, out]).toEqual([49, "there"]);
    expect(outputs).toContainEqual({ kind: "artifact", artifact: { name: "a.txt", mimeType: "text/plain", bytes: Buffer.from("file") } });
    await expect.poll(() => server.guests).toBe(0);
    expect(launcher.launched).toHaveLength(1);
    expect((await runSource(driver, "echo shell; exit 3", { language: "shell" })).end).toMatchObject({ kind: "threw", error: { code: "EXIT_CODE" } });
  });

  test("what goes either way is as slow as its reader, and whole", async () => {
    const { remote, launcher } = await setUp();
    const guest = remote().launch({ command: ["python3", "-c", "import os\nn = 0\nwhile True:\n    data = os.read(3, 65536)\n    if not data: break\n    n += len(data)\nos.write(4, str(n).encode())\nimport sys\nfor i in range(200): sys.stdout.write('x' * 100_000); sys.stdout.flush(); os.write(2, b'.')"], environment: {}, bounds, mounts: [] });
    const piece = Buffer.alloc(3_000_000, "y");
    for (let i = 0; i < 3; i++) await new Promise((done) => guest.commands.write(piece, done));
    guest.commands.end();
    const frames = text(guest.frames);
    const progress = text(guest.stderr);
    // Nobody reads stdout: the writer there must stop, with a bounded part on its way.
    await new Promise((wake) => setTimeout(wake, 400));
    expect(await isDead(launcher.launched[0])).toBe(false);
    expect(guest.stdout.readableLength).toBeLessThan(3_000_000);
    let bytes = 0;
    for await (const chunk of guest.stdout as AsyncIterable<Buffer>) bytes += chunk.length;
    expect(bytes).toBe(20_000_000);
    expect(await frames).toBe("9000000");
    expect(await progress).toHaveLength(200);
    expect(await guest.exited).toMatchObject({ code: 0 });
  });

  test("a connection that breaks again and again loses nothing and runs nothing twice", async () => {
    const { driver, proxy, launcher } = await setUp();
    proxy.cutAfter = 6_000; // A greeting fits; then every few frames.
    const seen: number[] = [];
    const { end, value, out } = await runSource(driver, "from tools import demo\nfor i in range(60):\n    print('line', i)\n    demo.note(i=i, pad='p' * 2000)\n'done'", { tools: { "demo.note": ({ i, pad }) => { seen.push(i as number); return pad; } } });
    expect([value, end.kind]).toEqual(["done", "returned"]);
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index));
    expect(out.split("\n")).toEqual(seen.map((index) => `line ${index}`));
    expect(proxy.count).toBeGreaterThan(5);
    expect(launcher.launched).toHaveLength(1);
  });

  test("a network that is silent, not closed, is noticed, and the guest goes on over the next connection", async () => {
    const { driver, proxy, launcher } = await setUp({ silenceMs: 600 }, { silenceMs: 600 });
    const { done, said } = startSource(driver, "from tools import demo\nprint('begun')\ndemo.slow()\n'over'", { tools: { "demo.slow": () => new Promise((wake) => setTimeout(wake, 2_000)) } });
    await said;
    proxy.isSilent = true;
    setTimeout(() => (proxy.isSilent = false), 1_000);
    expect((await done).value).toBe("over");
    expect(proxy.count).toBeGreaterThan(1);
    expect(launcher.launched).toHaveLength(1);
  });

  test("a client that stays away for longer than the grace: the guest is ended there, the run says so here", async () => {
    const { driver, proxy, launcher, server } = await setUp({ bounds: { graceMs: 300 }, silenceMs: 900 }, { silenceMs: 900 });
    const { done, said } = startSource(driver, "import time\nprint('begun')\ntime.sleep(60)");
    await said;
    proxy.isDown = true;
    expect((await done).end).toMatchObject({ kind: "crashed", message: expect.stringMatching(/connection to the server was lost .* ended the program after its grace/) });
    expect(await isDead(launcher.launched[0])).toBe(true);
    await expect.poll(() => server.guests).toBe(0);
  });

  test("one that comes back after that is told that its guest is gone; it is not started again", async () => {
    const { driver, proxy, launcher } = await setUp({ bounds: { graceMs: 200 } });
    const { done, said } = startSource(driver, "import time\nprint('begun')\ntime.sleep(60)");
    await said;
    proxy.isDown = true;
    await expect.poll(() => isDead(launcher.launched[0]), { timeout: 60_000 }).toBe(true);
    await new Promise((wake) => setTimeout(wake, 200));
    proxy.isDown = false;
    const { end } = await done;
    expect(end).toMatchObject({ kind: "crashed", message: expect.stringMatching(/no such guest/) });
    expect(launcher.launched).toHaveLength(1);
  });

  test("a cancel that falls into a broken connection reaches the guest with the next one", async () => {
    const { driver, proxy, launcher } = await setUp();
    const { done, said, run } = startSource(driver, "import time\nprint('begun')\ntime.sleep(60)");
    await said;
    proxy.isDown = true;
    run.cancel();
    setTimeout(() => (proxy.isDown = false), 300);
    expect((await done).end.kind).toBe("cancelled");
    expect(await isDead(launcher.launched[0])).toBe(true);
  });

  test("a server that stops ends its guests, and says it", async () => {
    const { driver, server, launcher } = await setUp();
    const { done, said } = startSource(driver, "import time\nprint('begun')\ntime.sleep(60)");
    await said;
    await server.close();
    expect((await done).end).toMatchObject({ kind: "crashed", message: expect.stringContaining("the server stops") });
    expect(await isDead(launcher.launched[0])).toBe(true);
  });

  test("an idle guest is ended", async () => {
    const { remote, launcher } = await setUp({ bounds: { idleMs: 200 } });
    const guest = remote().launch({ command: ["sleep", "60"], environment: {}, bounds, mounts: [] });
    expect(await guest.exited).toMatchObject({ failure: expect.stringContaining("idle") });
    expect(await isDead(launcher.launched[0])).toBe(true);
  });

  test("a wrong token is refused, with what to do; so is none", async () => {
    const { remote, launcher } = await setUp();
    for (const wrong of ["0123456789abcdef-tokem", ""]) {
      expect(await remote({ token: wrong }).probe()).toMatchObject({ kind: "unavailable", reason: expect.stringContaining("Set sandbox.remote.token") });
      const guest = remote({ token: wrong }).launch({ command: ["true"], environment: {}, bounds, mounts: [] });
      expect((await guest.exited).failure).toContain("token");
    }
    expect(launcher.launched).toEqual([]);
    expect(await remote().probe()).toMatchObject({ kind: "ready" });
  });

  test("a server with another certificate is not told the token", async () => {
    const { remote } = await setUp({ tls: createAuthority()?.issue("guests.test") ?? served });
    expect(await remote().probe()).toMatchObject({ kind: "unavailable", reason: expect.stringMatching(/certificate .* not one to trust/) });
    const named = await setUp();
    expect(await named.remote({ url: `tls://localhost:${named.proxy.port}` }).probe(), "another name than the certificate's").toMatchObject({ kind: "unavailable", reason: expect.stringContaining("ALTNAME") });
  });

  test("with clientCa, a certificate of the client is what lets in", async () => {
    const { remote, driver } = await setUp({ tls: { ...served, clientCa: authority?.cert ?? "" }, token: undefined as unknown as string }, { ...authority?.issue("client.test") });
    expect((await runSource(driver, "40 + 2")).value).toBe(42);
    const { cert, key } = createAuthority()?.issue("client.test") ?? served;
    expect((await remote({ cert, key }).probe()).kind).toBe("unavailable");
  });

  test("another version is refused by name, on either side", async () => {
    const { proxy, remote } = await setUp();
    const socket = connectTls({ host: "127.0.0.1", port: proxy.port, ca: authority?.cert ?? "" });
    socket.write(writeFrame({ k: "hello", protocol: 99, token }));
    expect(await text(socket)).toMatch(/speaks version 1 of the protocol, the client 99/);
    expect((await remote().probe()).kind).toBe("ready");
  });

  test("what is no guest of this client is nobody's: another token, an unknown id, garbage, silence", async () => {
    const { proxy, server, launcher } = await setUp();
    const say = (...frames: readonly (object | Buffer)[]): Promise<string> => {
      const socket = connectTls({ host: "127.0.0.1", port: proxy.port, ca: authority?.cert ?? "" });
      socket.on("error", () => undefined);
      for (const frame of frames) socket.write(Buffer.isBuffer(frame) ? frame : writeFrame(frame));
      return Promise.race([text(socket).catch(() => "reset"), new Promise<string>((wake) => setTimeout(() => { socket.destroy(); wake("open"); }, 3_000))]);
    };
    const hello = { k: "hello", protocol: 1, token };
    expect(await say(hello, { k: "open", guest: "unknown", received: 0 })).toContain("UNKNOWN_GUEST");
    expect(await say({ k: "open", guest: "unknown", received: 0, launch: {} })).toContain("VERSION");
    for (const launch of [{}, { command: [] }, { command: ["a\0b"], environment: {}, bounds, mounts: [] }, { command: ["true"], environment: {}, bounds: { ...bounds, memoryMiB: -1 }, mounts: [] }, { command: ["true"], environment: {}, bounds, mounts: [{ host: "/", guest: "/x", mode: "overlay?" }] }]) {
      expect(await say(hello, { k: "open", guest: "bad", received: 0, launch }), JSON.stringify(launch)).not.toContain("opened");
    }
    for (const garbage of [Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.alloc(5_000, 0xff), writeFrame({ k: "hello", protocol: "1" }), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0, 0x5b, 0x5d])]) expect(await say(garbage)).not.toMatch(/welcome|open$/);
    const plain = connect({ host: "127.0.0.1", port: proxy.port });
    plain.on("error", () => undefined);
    plain.end("hello in clear\n");
    await new Promise((wake) => plain.once("close", wake));
    expect(launcher.launched).toEqual([]);
    expect(server.guests).toBe(0);
  });

  test("frames that are out of order or were never granted break the connection, not the server", async () => {
    const { proxy, remote, server } = await setUp({ bounds: { graceMs: 200 } });
    const socket = connectTls({ host: "127.0.0.1", port: proxy.port, ca: authority?.cert ?? "" });
    socket.on("error", () => undefined);
    socket.resume(); // Else its end is never read.
    socket.write(writeFrame({ k: "hello", protocol: 1, token }));
    socket.write(writeFrame({ k: "open", guest: "g", received: 0, launch: { command: ["sleep", "60"], environment: {}, bounds, mounts: [] } }));
    await expect.poll(() => server.guests).toBe(1);
    socket.write(writeFrame({ k: "data", s: "commands", n: 7 }, "x"));
    await new Promise((wake) => socket.once("close", wake));
    await expect.poll(() => server.guests, { timeout: 60_000 }).toBe(0);
    expect((await remote().probe()).kind).toBe("ready");
  });

  test("the server's bounds hold whatever a client asks for", async () => {
    const { remote, launcher } = await setUp({ bounds: { guests: 2, memoryMiB: 600, processes: 40 } });
    const launch = (more: Partial<LaunchSpec["bounds"]> = {}): LaunchedGuest => remote().launch({ command: ["sleep", "60"], environment: {}, bounds: { ...bounds, ...more }, mounts: [] });
    expect((await launch({ processes: 41 }).exited).failure).toContain("sandbox.processes");
    expect((await launch({ memoryMiB: 700 }).exited).failure).toContain("limits.memoryMiB");
    const two = [launch(), launch()];
    await expect.poll(() => launcher.launched.length).toBe(2);
    expect((await launch().exited).failure).toContain("sandbox.maxGuests");
    for (const guest of two) guest.kill();
    await Promise.all(two.map(({ exited }) => exited));
    expect((await remote().probe()).kind).toBe("ready");
  });

  test("no folder of the server is mounted unless its person named it, links resolved", async () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-served-"));
    ends.push(() => rmSync(folder, { recursive: true }));
    symlinkSync("/etc", join(folder, "link"));
    writeFileSync(join(folder, "data"), "data");
    const { remote, launcher } = await setUp({ mounts: [{ host: folder, mode: "ro" }] });
    const reason = async (host: string, mode: "ro" | "rw" = "ro"): Promise<string | undefined> => (await remote().launch({ command: ["true"], environment: {}, bounds, mounts: [{ host, guest: "/data", mode }] }).exited).failure;
    for (const [host, mode] of [["/etc", "ro"], [`${folder}/link`, "ro"], [`${folder}/../`, "ro"], [`${folder}x`, "ro"], [folder, "rw"], ["/", "ro"]] as const) expect(await reason(host, mode), host).toContain("it does not mount");
    // The local launcher cannot mount: what it says shows that the order got that far.
    expect(await reason(folder)).toContain("local-unsafe cannot mount");
    expect(launcher.specs.map(({ mounts }) => mounts)).toEqual([[{ host: folder, guest: "/data", mode: "ro" }]]);
  });

  test("options that would speak in clear, or let everyone in, are refused", async () => {
    const launcher = createUnsafeLocalLauncher();
    const wrong = expect.objectContaining({ code: "CONFIG_INVALID" });
    for (const options of [{ token }, { tls: served }, { tls: served, token: "short" }, { unsafePlainLoopback: true }]) expect(() => createGuestServer({ launcher, ...options })).toThrow(wrong);
    for (const options of [{ url: "tcp://127.0.0.1:1" }, { url: "tcp://10.0.0.1:1", unsafePlainLoopback: true }, { url: "https://a:1" }, { url: "tls://a" }, { url: "nonsense" }, { url: "tls://a:1", cert: "x" }]) expect(() => createRemoteLauncher(options), options.url).toThrow(wrong);
    const server = createGuestServer({ launcher, token, unsafePlainLoopback: true });
    await expect(server.listen({ host: "0.0.0.0", port: 0 })).rejects.toThrow(wrong);
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    expect((await createRemoteLauncher({ url: `tcp://127.0.0.1:${port}`, token, unsafePlainLoopback: true }).probe()).kind).toBe("ready");
    await server.close();
  });

  test("a server that is not there is unavailable, now; when it comes, it is used", async () => {
    const launcher = createRemoteLauncher({ url: "tls://127.0.0.1:1", token });
    expect(await launcher.probe()).toMatchObject({ kind: "unavailable", reason: expect.stringContaining("ECONNREFUSED"), fix: expect.stringContaining("callgate sandbox serve") });
    const driver = createProcessDriver({ launcher });
    expect((await runSource(driver, "1")).end).toMatchObject({ kind: "crashed", message: expect.stringContaining("remote does not work here") });
    await driver.close();
    expect(existsSync("/proc")).toBe(true);
  });
});
