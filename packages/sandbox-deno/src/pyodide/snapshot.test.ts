import { chmodSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { LaunchedGuest } from "@callgate/sandbox-process";
import { describe, expect, onTestFinished, test } from "vitest";
import { ensureSnapshot } from "./snapshot.ts";

const here = fileURLToPath(import.meta.url);
const files = { version: "1.0.0", folder: "/", python: [here, here] } as const;

/** A folder of this user's, and a guest whose memory is `memory 1`, `memory 2`, … */
function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "callgate-snapshot-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const built = { times: 0 };
  const build = (): LaunchedGuest => {
    built.times += 1;
    return { commands: new PassThrough(), frames: Readable.from([Buffer.from(`memory ${built.times}`)]), stderr: Readable.from([]), exited: Promise.resolve({ code: 0, signal: null }) } as unknown as LaunchedGuest;
  };
  const ensure = () => ensureSnapshot(folder, files, build);
  const memory = async (): Promise<string> => readFileSync(await ensure()).subarray(32).toString();
  return { folder, built, ensure, memory };
}

describe("the memory of a started Python", () => {
  test("is made once, for its owner only", async () => {
    const { ensure, memory, built } = setUp();
    expect(await memory()).toBe("memory 1");
    expect(await memory()).toBe("memory 1");
    expect([built.times, lstatSync(await ensure()).mode & 0o777]).toEqual([1, 0o600]);
  });

  test("br-032: bytes that changed are not started from", async () => {
    const { ensure, memory } = setUp();
    const path = await ensure();
    const bytes = readFileSync(path);
    bytes.write("mad", 32);
    writeFileSync(path, bytes);
    expect(await memory()).toBe("memory 2");
  });

  test.skipIf(process.platform === "win32").each([
    ["a file that others may write to", (path: string) => chmodSync(path, 0o622)],
    ["a link to a file elsewhere", (path: string) => {
      const elsewhere = join(tmpdir(), `callgate-elsewhere-${process.pid}`);
      writeFileSync(elsewhere, readFileSync(path));
      onTestFinished(() => rmSync(elsewhere));
      rmSync(path);
      symlinkSync(elsewhere, path);
    }],
  ])("br-032: %s is not started from, whatever digest stands in it", async (_what, change) => {
    const { ensure, memory } = setUp();
    change(await ensure());
    expect(await memory()).toBe("memory 2");
    expect(await memory()).toBe("memory 2");
  });

  test.skipIf(process.platform === "win32")("br-032: from a folder that others may write to nothing is started, and nothing is kept there", async () => {
    const { folder, ensure, built } = setUp();
    chmodSync(folder, 0o777);
    await expect(ensure()).rejects.toThrow("others may write there");
    expect(built.times).toBe(0);
  });
});
