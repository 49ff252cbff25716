import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SandboxDriver } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProcessDriver } from "./driver.ts";
import { testLaunchers } from "./fixtures/launchers.ts";
import { runSource } from "./fixtures/run-source.ts";
import type { SourceRun } from "./fixtures/run-source.ts";
import { createUnsafeLocalLauncher } from "./launcher/local/local-launcher.ts";

interface SecurityCase {
  readonly id: string;
  readonly layer: string;
  readonly title: string;
  readonly snippet_or_steps: string;
  readonly oracle: string;
  readonly run: string | null;
}

const casesUrl = new URL("../../../../shared/cases/security.jsonl", import.meta.url);
const hasCases = existsSync(casesUrl);
const cases = hasCases ? readFileSync(casesUrl, "utf8").trim().split("\n").map((line) => JSON.parse(line) as SecurityCase).filter(({ layer, run }) => (layer === "python" || layer === "shell") && run !== null) : [];
const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");
const skip = !hasCases ? "../shared/cases is not beside the repository" : bubblewrap?.skip;
const canary = "canary-7f3a";
const limits = { cpuMs: 4_000, memoryMiB: 256 };
const canaryFile = join(homedir(), ".canary");

describe.skipIf(skip !== undefined)(`security cases of layers python and shell, in bubblewrap${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
  let driver: SandboxDriver;
  let listener: Server;
  let madeCanary = false;
  beforeAll(async () => {
    process.env["CANARY_SECRET"] = canary;
    madeCanary = !existsSync(canaryFile);
    if (madeCanary) writeFileSync(canaryFile, canary);
    listener = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => listener.once("listening", resolve));
    driver = createProcessDriver({ launcher: bubblewrap?.create() ?? createUnsafeLocalLauncher(), environment: { CANARY_PORT: `${(listener.address() as AddressInfo).port}` } });
  });
  afterAll(async () => {
    delete process.env["CANARY_SECRET"];
    if (madeCanary) rmSync(canaryFile, { force: true });
    listener.close();
    await driver.close();
  });

  for (const item of cases) {
    test(`${item.id} ${item.title}`, async () => {
      const language = item.layer === "python" ? "python" : "shell";
      const run = await runSource(driver, item.snippet_or_steps, { language, limits, wallMs: item.id === "py-034" ? 2_000 : 20_000 });
      judge(item, run);
      if (item.oracle === "run-twice") judge(item, await runSource(driver, item.snippet_or_steps, { language, limits, wallMs: 20_000 }));
      expect(JSON.stringify([run.end, run.outputs])).not.toContain(canary);
      // Clean and alive: nothing of it on the host, and the next program runs.
      expect(readdirSync("/var/tmp").filter((name) => /owned|left-|envpoison/.test(name))).toEqual([]);
      expect(survivors()).toEqual([]);
      expect((await runSource(driver, language === "python" ? "print('SAFE')" : "echo SAFE", { language })).out).toBe("SAFE");
    }, 60_000);
  }

  test("positive control: the same harness sees a launcher without walls fail", async () => {
    const weak = createProcessDriver({ launcher: createUnsafeLocalLauncher(), warm: 0, environment: { CANARY_PORT: `${(listener.address() as AddressInfo).port}` } });
    const seen: string[] = [];
    for (const id of ["py-025", "py-047", "py-051", "py-027"]) {
      const item = cases.find((one) => one.id === id);
      if (item !== undefined && /ESCAPED/.test((await runSource(weak, item.snippet_or_steps, { limits, wallMs: 20_000 })).out)) seen.push(id);
    }
    await weak.close();
    expect(seen).toEqual(expect.arrayContaining(["py-025", "py-047", "py-051"]));
  }, 60_000);
});

function survivors(): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && /alive2?\.txt/.test(readFileSync(`/proc/${name}/cmdline`, "latin1"));
    } catch {
      return false;
    }
  });
}

function judge(item: SecurityCase, { end, out }: SourceRun): void {
  expect(out).not.toMatch(/ESCAPED/);
  switch (item.oracle) {
    case "limit":
      // The gate's wall clock cancels it; the driver ends what does not run at all.
      expect(end.kind === "cancelled" || end.kind === "limit", JSON.stringify(end)).toBe(true);
      return;
    case "limit-or-safe":
      expect(end.kind === "limit" || out.includes("SAFE"), JSON.stringify(end)).toBe(true);
      return;
    case "no-file:core*":
      expect(end).toMatchObject({ kind: "crashed", signal: "SIGABRT" });
      return;
    default:
      expect(out, JSON.stringify(end)).toContain("SAFE");
  }
}

/** True in the copy of this file that the test below runs as another user. */
const isUnprivileged = process.getuid?.() !== 0;

describe("security cases as an unprivileged user", () => {
  const reason = skip ?? (isUnprivileged ? "this user is unprivileged already: the cases above ran as it" : undefined);
  test.skipIf(reason !== undefined)(`every case holds for a guest started by an ordinary user${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-user-"));
    try {
      const script = fileURLToPath(new URL("fixtures/unprivileged.ts", import.meta.url));
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, fileURLToPath(casesUrl)], { encoding: "utf8", timeout: 240_000, env: { PATH: "/usr/bin:/bin", CANARY_SECRET: canary, HOME: folder } });
      expect(stderr).toBe("");
      const results = JSON.parse(stdout) as readonly { readonly id: string; readonly uid: number; readonly out: string; readonly end: string }[];
      expect(status).toBe(0);
      expect(results.length).toBe(cases.length);
      expect(new Set(results.map(({ uid }) => uid))).toEqual(new Set([statUid]));
      for (const { id, out, end } of results) {
        expect(out, id).not.toMatch(/ESCAPED|canary-7f3a/);
        expect(out.includes("SAFE") || end !== "returned", `${id} ${end} ${out}`).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 260_000);
});

/** Who runs the unprivileged copy: see fixtures/unprivileged.ts. */
const statUid = 1_234;

