import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProcessDriver } from "../../driver.ts";
import { runSource } from "../../fixtures/run-source.ts";
import { rootArchive, startTestEngine, whyNoEngine } from "../../fixtures/test-engine.ts";
import type { TestEngine } from "../../fixtures/test-engine.ts";
import { openImageStore } from "./base-images.ts";
import { createContainerLauncher } from "./container-launcher.ts";
import { scanImage, scanners } from "./scan-image.ts";

const skip = whyNoEngine("docker");

describe.skipIf(skip !== undefined)(`openImageStore${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
  let engine: TestEngine;
  const root = mkdtempSync(join(tmpdir(), "callgate-root-"));
  beforeAll(async () => {
    engine = await startTestEngine("docker");
    execFileSync("tar", ["-xf", rootArchive(), "-C", root]);
  }, 240_000);
  afterAll(async () => {
    await engine.close();
    rmSync(root, { recursive: true, force: true });
  }, 240_000);

  test("builds a base image of a root file system, lists and checks it; programs run in it by default", async () => {
    const engines = [engine.socketPath];
    expect(await createContainerLauncher("docker", { engines }).probe()).toMatchObject({ kind: "unavailable", fix: expect.stringContaining("images build") });
    const images = await openImageStore("docker", { engines });
    const built = await images.build({ name: "python", rootFolder: root });
    expect(built).toMatchObject({ id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), isPinned: false, labels: { "callgate.image": "python" } });
    expect((await images.list()).filter(({ image }) => image !== undefined).map(({ image }) => image?.id)).toEqual([built.id]);
    const [report] = await images.check();
    expect(report?.ageDays).toBe(0);
    expect(report?.packages).toEqual(expect.arrayContaining([expect.stringMatching(/^bash 5/), expect.stringMatching(/^python 3\./)]));
    // The root file system of the tests has no numpy: an image that lacks what it is for says so.
    expect(report?.findings).toEqual([expect.stringContaining(built.id), "it lacks numpy, pandas, matplotlib"]);
    images.close();
    const driver = createProcessDriver({ launcher: createContainerLauncher("docker", { engines }), warm: 0 });
    expect((await runSource(driver, "1 + 1")).value).toBe(2);
    expect((await runSource(driver, "echo $0", { language: "shell" })).end.kind).toBe("returned");
    await driver.close();
  }, 240_000);

  test("builds by the Dockerfile of the package, beginning with an image that is there; what fails says why", async () => {
    const images = await openImageStore("docker", { engines: [engine.socketPath] });
    const lines: string[] = [];
    const built = await images.build({ name: "shell", base: engine.image, onLine: (line) => lines.push(line) });
    expect(built.labels["callgate.image"]).toBe("shell");
    expect(lines.join("\n")).toContain("FROM");
    await expect(images.build({ name: "shell", base: "localhost/no-such-base:1" })).rejects.toMatchObject({ code: "DRIVER_FAILED", message: expect.stringMatching(/could not build the image shell: .+/) });
    const empty = join(root, "..", `${root.split("/").at(-1)}-none`);
    await expect(images.build({ name: "shell", rootFolder: empty })).rejects.toMatchObject({ code: "USAGE" });
    images.close();
  }, 240_000);

  test("an image is scanned where a scanner is there, and says how to get one where not", async () => {
    const scan = await scanImage({ kind: "docker", client: engine.client, version: "", missing: [] }, engine.image);
    expect(scan.kind === "absent" ? scan.fix : scan.kind).toMatch(/trivy or grype|found|failed/);
  }, 700_000);
});

describe("scanners", () => {
  test("severities are read from each one's own JSON", () => {
    const [trivy, grype] = scanners;
    expect(trivy?.severities({ Results: [{ Target: "debian", Vulnerabilities: [{ Severity: "HIGH" }, { Severity: "LOW" }] }, { Target: "none" }] })).toEqual(["HIGH", "LOW"]);
    expect(grype?.severities({ matches: [{ vulnerability: { severity: "Critical" } }] })).toEqual(["Critical"]);
    expect([trivy?.severities({}), grype?.severities({})]).toEqual([[], []]);
  });
});
