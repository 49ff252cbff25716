import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProgramLanguage } from "@callgate/contract";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createProcessDriver } from "./driver.ts";
import { testLaunchers } from "./fixtures/launchers.ts";
import { noOtherUser, ordinaryUser, runAsUser } from "./fixtures/run-as-user.ts";
import { runSource } from "./fixtures/run-source.ts";
import { noCases } from "./fixtures/security-cases.ts";
import { createSecurityRecord } from "./fixtures/security-record.ts";
import type { SecurityWorld } from "./fixtures/security-record.ts";
import { startTestEngine, whyNoEngine } from "./fixtures/test-engine.ts";
import type { TestEngine } from "./fixtures/test-engine.ts";
import { createContainerLauncher } from "./launcher/container/container-launcher.ts";
import type { Launcher, Mount } from "./launcher/launcher.ts";
import { createUnsafeLocalLauncher } from "./launcher/local/local-launcher.ts";

// Cases of the list that are steps, not programs: what of them happens inside of a sandbox. What the gate does about them is
// in packages/callgate/src/security-steps.int.test.ts.

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");
const canary = "canary-7f3a";

/** What a process can do, in a line: the same for whatever started it. */
const probe = `printf '%s ' "$(id -u)" "$(grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status | tr -dc 'a-zA-Z0-9:\\n' | tr '\\n' ' ')" "$(cat "$CANARY_FILE" 2>/dev/null || echo unseen)" "$( (: >/usr/callgate-probe) 2>/dev/null && echo open || echo closed)"`;

/** Programs that are harmless by name and run others, each running the probe (\`./probe\`). */
const wrappers: Readonly<Record<string, string>> = {
  find: "find . -maxdepth 0 -exec ./probe {} +",
  env: "env -i CANARY_FILE=\"$CANARY_FILE\" PATH=\"$PATH\" ./probe",
  xargs: "echo x | xargs ./probe",
  awk: "awk 'BEGIN { system(\"./probe\") }'",
  sed: "echo x | sed -n '1e ./probe'",
  tar: "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=./probe probe",
  git: "git -c alias.x='!./probe' x",
  python3: "python3 -c 'import os; os.execv(\"./probe\", [\"./probe\"])'",
  setsid: "setsid ./probe",
  timeout: "timeout 5 ./probe",
};

const wrapping = `cat >probe <<'END'
#!/bin/sh
${probe}
END
chmod +x probe
echo "direct $(./probe)"
${Object.entries(wrappers).map(([name, command]) => `if command -v ${name} >/dev/null; then echo "${name} $(${command} 2>/dev/null)"; fi`).join("\n")}
`;

/** Options that write or read where they are told, and shell text in a value. */
const injecting = `
cd /tmp
if command -v git >/dev/null; then git log --output=/var/tmp/callgate-injected 2>/dev/null; fi
sort -o /var/tmp/callgate-injected /dev/null
grep -f"$CANARY_FILE" /etc/hostname 2>/dev/null
find /tmp -maxdepth 0 -fprint /var/tmp/callgate-injected 2>/dev/null
name='-rf
$(touch /var/tmp/callgate-injected); \`touch /var/tmp/callgate-injected\`'
: >"$name" 2>/dev/null; ls -- *
cat "$CANARY_FILE" 2>/dev/null || echo unseen`;

/** Every spelling of a way out of /data, read and written. */
const traversing = `
import os, unicodedata
def attempt(f):
    try: return f()
    except (OSError, ValueError) as e: return type(e).__name__
names = ["../../../etc/passwd", "/etc/passwd", "a/../../x", "a//..//..//x", "..\\\\..\\\\x", "x\\0.txt", "%2e%2e%2fx", "CON", "../beside.txt", "../../beside.txt", "n" * 4096, unicodedata.normalize("NFC", "e\\u0301"), unicodedata.normalize("NFD", "e\\u0301")]
attempt(lambda: os.makedirs("/data/a", exist_ok=True))
read = [attempt(lambda: open(os.path.join("/data", name)).read()) for name in names]
wrote = [attempt(lambda: open(os.path.join("/data", name), "w").write("written")) for name in names]
[read, wrote]`;

interface Ran {
  readonly out: string;
  readonly value: unknown;
  readonly end: unknown;
}
type Run = (language: ProgramLanguage, code: string, options: { readonly mounts?: readonly Mount[]; readonly environment: Readonly<Record<string, string>> }) => Promise<Ran>;

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-steps-")));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "beside.txt"), canary);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function testSteps(world: SecurityWorld, run: Run, owner: number | undefined): void {
  const record = createSecurityRecord(world);

  test("sh-005: a program that runs others lends them nothing: they stand behind the same walls", async () => {
    const { out, end } = await run("shell", wrapping, { environment: { CANARY_FILE: join(folder, "beside.txt") } });
    const lines = out.trim().split("\n").map((line): [string, string] => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1).trim()]);
    const direct = lines.find(([name]) => name === "direct")?.[1] ?? "";
    expect(direct, JSON.stringify(end)).toMatch(/^65534 CapEff:0+ NoNewPrivs:1 Seccomp:2 +unseen closed$/);
    expect(lines.length).toBeGreaterThan(6);
    for (const [name, found] of lines) expect(found, name).toBe(direct);
    record.held("sh-005");
  }, 120_000);

  test("sh-004: injected options and shell text reach no file of the host", async () => {
    const { out, end } = await run("shell", injecting, { environment: { CANARY_FILE: join(folder, "beside.txt") } });
    expect(out, JSON.stringify(end)).toMatch(/unseen$/);
    expect(out).not.toContain(canary);
    expect(existsSync("/var/tmp/callgate-injected")).toBe(false);
    record.held("sh-004");
  }, 120_000);

  test.each(["ro", "rw", "overlay"] as const)("py-017: no spelling leads out of a folder that is mounted %s", async (mode) => {
    const host = join(folder, "data");
    mkdirSync(host);
    if (owner !== undefined) chownSync(host, owner, owner);
    const passwd = readFileSync("/etc/passwd", "utf8");
    const { value, end } = await run("python", traversing, { mounts: [{ host, guest: "/data", mode }], environment: {} });
    const [read, wrote] = value as readonly (readonly unknown[])[];
    expect(read?.length, JSON.stringify(end)).toBe(13);
    // What is up there is the guest's own.
    for (const text of read ?? []) expect(["guest:x:65534:65534::/workspace:/bin/sh\n", "FileNotFoundError", "ValueError", "OSError", "NotADirectoryError"]).toContain(text);
    expect(wrote?.slice(0, 2)).toEqual([expect.stringMatching(/OSError|PermissionError/), expect.stringMatching(/OSError|PermissionError/)]);
    expect(readdirSync(folder).toSorted()).toEqual(["beside.txt", "data"]);
    expect(readFileSync(join(folder, "beside.txt"), "utf8")).toBe(canary);
    expect(readFileSync("/etc/passwd", "utf8")).toBe(passwd);
    const kept = mode === "rw" ? ["%2e%2e%2fx", "..\\..\\x", "CON", "a", "e\u0301", "\u00e9"] : [];
    expect(readdirSync(host).toSorted()).toEqual(kept.toSorted());
    record.held("py-017");
  }, 120_000);

  test.skipIf(noCases !== undefined)("the table in docs/security.md is printed from these results (write them with CALLGATE_WRITE_RESULTS=1)", () => record.check());
}

function runIn(create: () => Launcher): Run {
  return async (language, code, options) => {
    const driver = createProcessDriver({ launcher: create(), warm: 0, ...options });
    try {
      return await runSource(driver, code, { language });
    } finally {
      await driver.close();
    }
  };
}

describe.skipIf(bubblewrap?.skip !== undefined)(`steps in bubblewrap${bubblewrap?.skip === undefined ? "" : ` (skipped: ${bubblewrap.skip})`}`, () => {
  const create = (): Launcher => bubblewrap?.create() ?? createUnsafeLocalLauncher();
  testSteps("bubblewrap", runIn(create), create().guestUser?.uid);
});

const noUser = bubblewrap?.skip ?? noOtherUser;
describe.skipIf(noUser !== undefined)(`steps in bubblewrap, as an ordinary user${noUser === undefined ? "" : ` (skipped: ${noUser})`}`, () => {
  testSteps("bubblewrap, ordinary user", async (language, code, options) => {
    const [result] = await runAsUser({ ...options, programs: [{ id: "steps", language, code }] });
    if (result === undefined) throw new Error("nothing was run");
    return result;
  }, ordinaryUser);
});

const noDocker = whyNoEngine("docker");
describe.skipIf(noDocker !== undefined)(`steps in docker${noDocker === undefined ? "" : ` (skipped: ${noDocker})`}`, () => {
  let engine: TestEngine;
  let launcher: Launcher;
  beforeAll(async () => {
    engine = await startTestEngine("docker");
    launcher = createContainerLauncher("docker", { engines: [engine.socketPath], image: engine.image });
  }, 240_000);
  afterAll(async () => {
    await launcher.close?.();
    await engine.close();
  }, 240_000);
  testSteps("docker", runIn(() => ({ ...launcher, close: () => Promise.resolve() })), 65_534);
});
