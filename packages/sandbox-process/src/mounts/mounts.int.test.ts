import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isWholeRun } from "@callgate/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createProcessDriver } from "../driver.ts";
import { testLaunchers } from "../fixtures/launchers.ts";
import { noOtherUser, ordinaryUser, runAsUser } from "../fixtures/run-as-user.ts";
import { runSource } from "../fixtures/run-source.ts";
import { startTestEngine, whyNoEngine } from "../fixtures/test-engine.ts";
import type { TestEngine } from "../fixtures/test-engine.ts";
import { createContainerLauncher } from "../launcher/container/container-launcher.ts";
import type { Launcher, Mount } from "../launcher/launcher.ts";
import { createUnsafeLocalLauncher } from "../launcher/local/local-launcher.ts";

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");
const nobody = 65_534;

/** Changes everything there is to change in a folder of the host, and tells what it then sees. */
const changeAll = `
import os, shutil
before = sorted(os.listdir("/data"))
old = os.path.getmtime("/data/a.txt")
open("/data/a.txt", "a").write(" and more")
open("/data/new.txt", "w").write("new")
os.remove("/data/b.txt")
shutil.rmtree("/data/deep")
os.mkdir("/data/deep")
open("/data/deep/c.txt", "w").write("another")
shutil.move("/data/plain", "/data/moved")
os.chmod("/data/moved/d.txt", 0o600)
[before, sorted(os.listdir("/data")), open("/data/a.txt").read(), open("/data/deep/c.txt").read(), sorted(os.listdir("/data/deep")), open("/data/moved/d.txt").read(), int(old)]
`;
const oldSeconds = 1_600_000_000;
const seen = [["a.txt", "b.txt", "deep", "link", "plain"], ["a.txt", "deep", "link", "moved", "new.txt"], "first and more", "another", ["c.txt"], "d", oldSeconds];

/** Everything below a folder with its content, to see that nothing of it changed. */
function contentOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return `${path} ${entry.isFile() ? readFileSync(path, "utf8") : ""}`;
  }).toSorted();
}

let folder: string;
/** A folder that belongs to a user. */
function makeFolder(owner: number): string {
  const made = join(folder, "data");
  for (const name of ["deep", "plain"]) mkdirSync(join(made, name), { recursive: true });
  for (const [name, text] of [["a.txt", "first"], ["b.txt", "b"], ["deep/old.txt", "old"], ["plain/d.txt", "d"]] as const) writeFileSync(join(made, name), text);
  symlinkSync("/etc/passwd", join(made, "link"));
  utimesSync(join(made, "a.txt"), oldSeconds, oldSeconds);
  if (process.getuid?.() === 0) for (const name of ["", "deep", "plain", "a.txt", "b.txt", "deep/old.txt", "plain/d.txt"]) chownSync(join(made, name), owner, owner);
  return made;
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-mounts-")));
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What holds of a mount, whatever launcher makes it. */
function testMounts(create: () => Launcher): void {
  const run = async (code: string, mounts: readonly Mount[], bounds: { workspaceMiB?: number; workspaceFiles?: number } = {}) => {
    const driver = createProcessDriver({ launcher: create(), mounts, warm: 0, bounds });
    try {
      return await runSource(driver, code);
    } finally {
      await driver.close();
    }
  };

  test.each([["the guests' user", nobody], ["root", 0]])("overlay of a folder of %s: everything can be changed, and nothing of the host is", async (_whose, owner) => {
    const host = makeFolder(owner);
    const before = contentOf(host);
    const result = await run(changeAll, [{ host, guest: "/data", mode: "overlay" }]);
    expect(result.value, JSON.stringify([result.end, result.err])).toEqual(seen);
    expect(contentOf(host)).toEqual(before);
    const again = await run("import os\nsorted(os.listdir('/data'))", [{ host, guest: "/data", mode: "overlay" }]);
    expect(again.value).toEqual(seen[0]);
  }, 240_000);

  test("overlay: what is written is bounded, in bytes and in files; the host's disk is not filled", async () => {
    const host = makeFolder(nobody);
    const code = `
import errno
def fill(write):
    try:
        for i in range(100000): write(i)
    except OSError as e: return [errno.errorcode[e.errno], i]
    return "no end"
big = open("/data/big", "wb", 0)
r = [fill(lambda i: big.write(b"x" * (1 << 20)))]
big.truncate(0)
r + [fill(lambda i: open(f"/data/f{i}", "w").close())]`;
    const { value } = await run(code, [{ host, guest: "/data", mode: "overlay" }], { workspaceMiB: 16, workspaceFiles: 512 });
    const [bytes, files] = value as readonly (readonly [string, number])[];
    expect([bytes?.[0], files?.[0]]).toEqual([expect.stringMatching(/ENOSPC|EFBIG/), "ENOSPC"]);
    expect(bytes?.[1]).toBeLessThanOrEqual(16);
    expect(files?.[1]).toBeLessThanOrEqual(512);
  }, 240_000);

  test("two overlays, and a folder to read beside them, stay apart", async () => {
    const host = makeFolder(nobody);
    const { value, end } = await run(`
open("/one/new", "w").write("1")
def t(f):
    try: f(); return "written"
    except OSError: return "refused"
import os
[os.path.exists("/two/new"), os.path.exists("/read/new"), t(lambda: open("/read/a.txt", "a")), open("/two/a.txt").read()]`, [{ host, guest: "/one", mode: "overlay" }, { host, guest: "/read", mode: "ro" }, { host, guest: "/two", mode: "overlay" }]);
    expect(value, JSON.stringify(end)).toEqual([false, false, "refused", "first"]);
  }, 240_000);

  test("a link in a folder leads nowhere on the host", async () => {
    const host = makeFolder(nobody);
    const { value } = await run("open('/data/link').read()", [{ host, guest: "/data", mode: "overlay" }]);
    expect(value).toBe("guest:x:65534:65534::/workspace:/bin/sh\n");
  }, 240_000);

  test("a folder that became a link meanwhile is not mounted, and no path of the host is told", async () => {
    const host = makeFolder(nobody);
    const driver = createProcessDriver({ launcher: create(), mounts: [{ host, guest: "/data", mode: "ro" }], warm: 0 });
    rmSync(host, { recursive: true });
    symlinkSync("/etc", host);
    const { end } = await runSource(driver, "1");
    await driver.close();
    expect(end).toEqual({ kind: "crashed", message: "the mount /data cannot be made: it is the settings of this machine, its users and keys" });
  }, 240_000);
}

describe.skipIf(bubblewrap?.skip !== undefined)(`mounts in bubblewrap${bubblewrap?.skip === undefined ? "" : ` (skipped: ${bubblewrap.skip})`}`, () => {
  const create = (): Launcher => bubblewrap?.create() ?? createUnsafeLocalLauncher();
  testMounts(create);

  test.skipIf(noOtherUser !== undefined)(`as an ordinary user: an overlay of the user's own folder and of one of root's${noOtherUser === undefined ? "" : ` (skipped: ${noOtherUser})`}`, async () => {
    for (const owner of [ordinaryUser, 0]) {
      rmSync(join(folder, "data"), { recursive: true, force: true });
      const host = makeFolder(owner);
      const before = contentOf(host);
      const [result] = await runAsUser({ mounts: [{ host, guest: "/data", mode: "overlay" }], programs: [{ id: "change", code: changeAll }] });
      expect(result?.value, JSON.stringify(result)).toEqual(seen);
      expect(contentOf(host)).toEqual(before);
    }
  }, 120_000);

  test("a folder below /mnt is found", async (context) => {
    if (process.getuid?.() !== 0) context.skip("needs root, to make a folder in /mnt");
    const made = mkdtempSync("/mnt/callgate-mounts-");
    try {
      chmodSync(made, 0o755);
      writeFileSync(join(made, "a.txt"), "of mnt");
      const driver = createProcessDriver({ launcher: create(), mounts: [{ host: made, guest: "/data", mode: "ro" }], warm: 0 });
      const { value, end } = await runSource(driver, "open('/data/a.txt').read()");
      await driver.close();
      expect(value, JSON.stringify(end)).toBe("of mnt");
    } finally {
      rmSync(made, { recursive: true });
    }
  });

  test.each([["python", "print('ran')"], ["shell", "echo ran"]] as const)("what cannot be set up ends a %s run with what to do and without a path of the host", async (language, code) => {
    const host = makeFolder(0);
    writeFileSync(join(host, "large"), Buffer.alloc(9 << 20));
    const hidden = join(folder, "hidden-name");
    mkdirSync(join(hidden, "inner"), { recursive: true });
    if (process.getuid?.() === 0) chmodSync(hidden, 0o700);
    const ends = [];
    for (const mount of [{ host, guest: "/data", mode: "overlay" }, ...(process.getuid?.() === 0 ? [{ host: join(hidden, "inner"), guest: "/in", mode: "ro" } as const] : [])] as const) {
      const driver = createProcessDriver({ launcher: create(), mounts: [mount], warm: 0, bounds: { workspaceMiB: 8 } });
      const { end, out, err } = await runSource(driver, code, { language });
      await driver.close();
      expect([out, err]).toEqual(["", ""]);
      ends.push(end);
    }
    if (process.getuid?.() === 0) expect(ends).toMatchObject([{ kind: "crashed", message: expect.stringMatching(/overlay \/data .*sandbox\.workspaceMiB \(8\)/) }, { kind: "crashed", message: expect.stringMatching(/the mount \/in could not be made: the user programs run as cannot reach/) }]);
    expect(JSON.stringify(ends)).not.toMatch(/callgate-mounts|hidden-name|\/tmp/);
    expect(existsSync(host)).toBe(true);
  });
});

for (const kind of isWholeRun ? (["docker", "podman"] as const) : (["docker"] as const)) {
  // Podman takes its mounts in the same request, several times as slowly.
  const skip = whyNoEngine(kind);
  describe.skipIf(skip !== undefined)(`mounts in ${kind}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    let engine: TestEngine;
    beforeAll(async () => {
      engine = await startTestEngine(kind);
    }, 240_000);
    afterAll(() => engine.close(), 240_000);
    testMounts(() => createContainerLauncher(kind, { engines: [engine.socketPath], image: engine.image }));
  });
}
