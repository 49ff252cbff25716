import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { securityCasesUrl } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { testLaunchers } from "./fixtures/launchers.ts";
import { canary, cases, noCases, testSecurityCases } from "./fixtures/security-cases.ts";
import { createUnsafeLocalLauncher } from "./launcher/local/local-launcher.ts";

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");
const skip = noCases ?? bubblewrap?.skip;

testSecurityCases({ name: "bubblewrap", create: () => bubblewrap?.create() ?? createUnsafeLocalLauncher(), skip });

/** True in the copy of this file that the test below runs as another user. */
const isUnprivileged = process.getuid?.() !== 0;

describe("security cases as an unprivileged user", () => {
  const reason = skip ?? (isUnprivileged ? "this user is unprivileged already: the cases above ran as it" : undefined);
  test.skipIf(reason !== undefined)(`every case holds for a guest started by an ordinary user${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-user-"));
    try {
      const script = fileURLToPath(new URL("fixtures/unprivileged.ts", import.meta.url));
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, fileURLToPath(securityCasesUrl)], { encoding: "utf8", timeout: 240_000, env: { PATH: "/usr/bin:/bin", CANARY_SECRET: canary, HOME: folder } });
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

