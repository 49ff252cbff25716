import { describe, expect, test } from "vitest";
import { testLaunchers } from "./fixtures/launchers.ts";
import { noOtherUser, ordinaryUser, runAsUser } from "./fixtures/run-as-user.ts";
import { canary, cases, noCases, testSecurityCases } from "./fixtures/security-cases.ts";
import { createSecurityRecord } from "./fixtures/security-record.ts";
import { createUnsafeLocalLauncher } from "./launcher/local/local-launcher.ts";

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");
const skip = noCases ?? bubblewrap?.skip;

testSecurityCases({ name: "bubblewrap", create: () => bubblewrap?.create() ?? createUnsafeLocalLauncher(), skip });

describe("security cases as an unprivileged user", () => {
  const reason = skip ?? noOtherUser;
  test.skipIf(reason !== undefined)(`every case holds for a guest started by an ordinary user${reason === undefined ? "" : ` (skipped: ${reason})`}`, async () => {
    const programs = cases.map(({ id, layer, snippet_or_steps: code }) => ({ id, code, language: layer, limits: { cpuMs: 4_000, memoryMiB: 256 }, wallMs: id === "py-034" ? 2_000 : 20_000 }));
    const record = createSecurityRecord("bubblewrap, ordinary user");
    const results = await runAsUser({ programs }, { CANARY_SECRET: canary });
    expect(results.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
    for (const { id, uid, out, err, end, value } of results) {
      expect(uid).toBe(ordinaryUser);
      expect(JSON.stringify([out, err, end, value]), id).not.toMatch(/ESCAPED|canary-7f3a/);
      expect(out.includes("SAFE") || end.kind !== "returned", `${id} ${end.kind} ${out}`).toBe(true);
      record.held(id);
    }
    record.check();
  }, 260_000);
});
