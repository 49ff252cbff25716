import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProgramLanguage } from "@callgate/contract";
import { isWholeRun } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createProcessDriver } from "./driver.ts";
import { engineLauncher } from "./fixtures/engine-launcher.ts";
import { testLaunchers } from "./fixtures/launchers.ts";
import { noOtherUser, runAsUser } from "./fixtures/run-as-user.ts";
import { runSource } from "./fixtures/run-source.ts";
import { whyNoEngine } from "./fixtures/test-engine.ts";
import { pythonLanguage, shellLanguage } from "./language/guest-language.ts";
import { nodeLanguage } from "./language/node-language.ts";
import type { Launcher } from "./launcher/launcher.ts";
import { createUnsafeLocalLauncher } from "./launcher/local/local-launcher.ts";

// No file of a guest is opened by the host: what comes back goes as bytes over the guest's pipes, so a link leads to what the
// guest could read itself. What is left to a hostile program are the numbers, the names and what cannot be read.

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");

/** A file is written last: it says that nothing before it kept the others from coming back. */
const hostile = `
import os, socket
os.makedirs("out/folder", exist_ok=True)
open("outside.txt", "w").write("outside")
def attempt(f):
    try: f()
    except OSError: pass
os.symlink("/etc/passwd", "out/link")
os.symlink("/", "out/link-to-root")
os.symlink("/proc/1", "out/folder/link-to-process")
os.symlink("nowhere", "out/dangling")
os.symlink(".", "out/loop")
attempt(lambda: os.link("outside.txt", "out/hard.txt"))
os.mkfifo("out/pipe")
s = socket.socket(socket.AF_UNIX); s.bind("out/socket")
attempt(lambda: os.mknod("out/device", 0o20666, os.makedev(1, 5)))
def sparse():
    with open("out/sparse", "wb") as f: f.truncate(1 << 40)
attempt(sparse)
open("out/unreadable", "w").write("u"); os.chmod("out/unreadable", 0)
open("out/new\\nline", "w").write("n")
open(b"out/not-utf-8-\\xff", "w").write("b")
open("out/" + "l" * 255, "w").write("l")
open("out/-n", "w").write("option")
open("out/$(touch pwned) 'q\\"", "w").write("quoted")
open("out/empty", "w").close()
open("out/..folder", "w").write("dots")
at = "out"
for i in range(1500):
    at += "/d"
    os.mkdir(at)
open(at + "/deep.txt", "w").write("deep")
open("out/zz-last.txt", "w").write("last")
`;
const names = ["$(touch pwned) 'q\"", "-n", "..folder", "empty", "l".repeat(255), "new\nline", "not-utf-8-\ufffd", `${"d/".repeat(1500)}deep.txt`, "zz-last.txt"].toSorted();

/** What comes back everywhere. A filter may refuse the hard link; where a file has a bound on its size, the sparse one stays empty. */
function steady(told: readonly string[]): readonly string[] {
  return told.filter((name) => name !== "hard.txt" && name !== "sparse").toSorted();
}

/** A program of each language that runs a Python text. */
const wrap: Readonly<Record<string, (python: string) => string>> = {
  python: (python) => python,
  shell: (python) => `python3 - <<'END'\n${python}\nEND\n`,
  javascript: (python) => `(async ($callgate) => { require("node:child_process").execFileSync("python3", ["-c", ${JSON.stringify(python)}], { stdio: "inherit" }); })`,
};

const limits = { cpuMs: 60_000, memoryMiB: 512 };

interface Collected {
  readonly kind: string;
  readonly err: string;
  readonly files: Readonly<Record<string, string>>;
}

type Run = (language: ProgramLanguage, python: string, bounds?: { readonly workspaceFiles?: number; readonly workspaceMiB?: number; readonly artifactMiB?: number }) => Promise<Collected>;

function testHostileFiles(languages: readonly ProgramLanguage[], run: Run): void {
  const each = async (language: ProgramLanguage, python: string, bounds: Parameters<Run>[2] = {}): Promise<Collected> => await run(language, (wrap[language] ?? String)(python), bounds);

  test.each(languages)("%s: only regular files of out/ come back, whatever stands beside them and however they are called", async (language) => {
    const { kind, files, err } = await each(language, hostile, { workspaceFiles: 8_192 });
    expect(kind, err).toBe("returned");
    expect(steady(Object.keys(files))).toEqual(names);
    expect(files).toMatchObject({ "zz-last.txt": "last", empty: "", "-n": "option", "new\nline": "n", [`${"d/".repeat(1500)}deep.txt`]: "deep" });
    expect(JSON.stringify(files)).not.toContain("guest:x");
  }, 240_000);

  test.each(languages)("%s: more files and bytes than a run may bring back are left out, and that is said", async (language) => {
    const many = await each(language, "import os\nos.makedirs('out', exist_ok=True)\nfor i in range(3000): open(f'out/{i:05}', 'w').close()", { workspaceFiles: 8_192 });
    expect([many.kind, Object.keys(many.files).length], many.err).toEqual(["returned", 64]);
    expect(many.err).toMatch(/Some files of out\/ were left out/);
    const large = await each(language, "import os\nos.makedirs('out', exist_ok=True)\nopen('out/a', 'wb').write(b'a' * 700_000)\nopen('out/b', 'wb').write(b'b' * 700_000)\nopen('out/c', 'w').write('c')", { artifactMiB: 1 });
    expect([large.kind, Object.keys(large.files)], large.err).toEqual(["returned", ["a", "c"]]);
    expect(large.err).toMatch(/Some files of out\/ were left out/);
  }, 240_000);

  test.each(languages)("%s: a file swapped for a link, and one that shrinks, while files are read, harm nobody", async (language) => {
    const busy = `
import os, subprocess, sys
os.makedirs("out", exist_ok=True)
for i in range(40): open(f"out/{i:02}", "w").write("x" * 100_000)
if os.fork() == 0:
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2): os.dup2(null, fd)
    n = 0
    while True:
        for i in range(40):
            n += 1
            at = f"out/{i:02}"
            try:
                os.symlink("/etc/passwd", "swap"); os.rename("swap", at)
                open("swap", "w").write("y" * (n % 7 * 50_000)); os.rename("swap", at)
                os.truncate(at, n % 1000)
            except OSError: pass
os._exit(0) if ${language === "python" ? "False" : "True"} else None`;
    const { kind, files, err } = await each(language, busy);
    expect(kind, err).toBe("returned");
    for (const [name, text] of Object.entries(files)) expect(text, name).not.toContain("guest:x");
  }, 240_000);
}

function runIn(create: () => Launcher): Run {
  return async (language, code, bounds = {}) => {
    const driver = createProcessDriver({ launcher: create(), languages: [pythonLanguage, shellLanguage, nodeLanguage()], warm: 0, bounds });
    const { end, err, outputs } = await runSource(driver, code, { language, limits });
    await driver.close();
    const files = outputs.flatMap((output) => (output.kind === "artifact" ? [[output.artifact.name, Buffer.from(output.artifact.bytes).toString("latin1")] as const] : []));
    return { kind: end.kind === "returned" ? end.kind : JSON.stringify(end), err, files: Object.fromEntries(files) };
  };
}

describe.skipIf(bubblewrap?.skip !== undefined)(`files of hostile programs, in bubblewrap${bubblewrap?.skip === undefined ? "" : ` (skipped: ${bubblewrap.skip})`}`, () => {
  const create = (): Launcher => bubblewrap?.create() ?? createUnsafeLocalLauncher();
  testHostileFiles(["python", "javascript", "shell"], runIn(create));

  test("a hundred thousand files are looked through", async () => {
    const many = "import os\nos.makedirs('out/many', exist_ok=True)\nfor i in range(100_000): os.close(os.open(f'out/many/{i}', os.O_CREAT | os.O_WRONLY))\n";
    for (const language of ["python", "javascript", "shell"]) {
      const { kind, err, files } = await runIn(create)(language, wrap[language]?.(many) ?? "", { workspaceFiles: 120_000, workspaceMiB: 256 });
      expect([kind, Object.keys(files).length], err).toEqual(["returned", 64]);
    }
  }, 240_000);

  test.skipIf(noOtherUser !== undefined)(`the same as an ordinary user${noOtherUser === undefined ? "" : ` (skipped: ${noOtherUser})`}`, async () => {
    const programs = ["python", "javascript", "shell"].map((language) => ({ id: language, language, code: wrap[language]?.(hostile) ?? "", limits }));
    for (const { end, artifacts } of await runAsUser({ programs, bounds: { workspaceFiles: 8_192 } })) {
      expect(end.kind, JSON.stringify(end)).toBe("returned");
      expect(steady(artifacts.map(({ name }) => name))).toEqual(names);
    }
  }, 120_000);

  describe("a working folder that lasts", () => {
    test.each(["python", "javascript", "shell"])("%s: only what this run wrote comes back, moved, copied and changed files too", async (language) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-lasting-")));
      const user = create().guestUser;
      try {
        mkdirSync(join(folder, "out/sub"), { recursive: true });
        for (const name of ["out/old.txt", "out/sub/old.txt", "out/changed.txt", "aside.txt"]) writeFileSync(join(folder, name), "old");
        symlinkSync("/etc/passwd", join(folder, "out/link"));
        for (const name of ["", "out", "out/sub", "out/old.txt", "out/sub/old.txt", "out/changed.txt", "aside.txt"]) {
          if (user !== undefined) chownSync(join(folder, name), user.uid, user.gid);
        }
        chmodSync(folder, 0o755);
        const driver = createProcessDriver({ launcher: create(), languages: [pythonLanguage, shellLanguage, nodeLanguage()], warm: 1, mounts: [{ host: folder, guest: "/workspace", mode: "rw" }] });
        const told = async (python: string): Promise<readonly string[]> => {
          const { outputs, end, err } = await runSource(driver, wrap[language]?.(python) ?? "", { language, limits });
          expect(end.kind, `${JSON.stringify(end)} ${err}`).toBe("returned");
          return outputs.flatMap((output) => (output.kind === "artifact" ? [output.artifact.name] : [])).toSorted();
        };
        expect(await told("import os, shutil\nopen('out/changed.txt', 'a').write('!')\nopen('out/new.txt', 'w').write('n')\nos.utime('out/new.txt', (1, 1))\nos.rename('aside.txt', 'out/moved.txt')\nshutil.copy2('out/old.txt', 'out/copied.txt')")).toEqual(["changed.txt", "copied.txt", "moved.txt", "new.txt"]);
        expect(await told("1")).toEqual([]);
        expect(await told("open('out/new.txt', 'w').write('m')")).toEqual(["new.txt"]);
        await driver.close();
        expect(readFileSync(join(folder, "out/old.txt"), "utf8")).toBe("old");
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }, 120_000);
  });
});

for (const kind of isWholeRun ? (["docker", "podman"] as const) : (["docker"] as const)) {
  // The two differ in how a guest is started, not in what it sends: whole runs are enough for the second.
  const skip = whyNoEngine(kind);
  describe.skipIf(skip !== undefined)(`files of hostile programs, in ${kind}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    testHostileFiles(["python", "shell"], runIn(engineLauncher(kind)));
  });
}

describe("hostile words of a plain guest", () => {
  test("files beyond the bound are not held, whoever says them", async () => {
    const driver = createProcessDriver({ launcher: createUnsafeLocalLauncher(), warm: 0, bounds: { artifactMiB: 1 } });
    const code = "p=$PPID; for i in 1 2 3 4; do { printf 'file 600000 2\\nf%d' $i; head -c 600000 /dev/zero; } >/proc/$p/fd/4; done 2>/dev/null; exit 0";
    const { end, outputs } = await runSource(driver, code, { language: "shell" });
    await driver.close();
    const bytes = outputs.reduce((sum, output) => sum + (output.kind === "artifact" ? output.artifact.bytes.length : 0), 0);
    expect(bytes).toBeLessThanOrEqual(1 << 20);
    expect(["returned", "crashed"]).toContain(end.kind);
  });
});
