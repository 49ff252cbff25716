import { describe, expect, test } from "vitest";
import { testLaunchers } from "../fixtures/launchers.ts";
import { createUnsafeLocalLauncher } from "../launcher/local/local-launcher.ts";
import { checkWalls } from "./check-walls.ts";

const bubblewrap = (await testLaunchers()).find(({ name }) => name === "bubblewrap");

describe("checkWalls", () => {
  test.skipIf(bubblewrap?.skip !== undefined)(`finds every wall of bubblewrap standing${bubblewrap?.skip === undefined ? "" : ` (skipped: ${bubblewrap.skip})`}`, async () => {
    const launcher = bubblewrap?.create();
    expect(launcher && (await checkWalls(launcher)).filter(({ state }) => state !== "holds")).toEqual([]);
  });

  test("sees what is open: without walls it says so", async () => {
    const open = (await checkWalls(createUnsafeLocalLauncher())).filter(({ state }) => state === "open").map(({ wall }) => wall);
    expect(open).toEqual(expect.arrayContaining(["files of the host", "processes of the host", "privileges", "memory of a process", "bytes on disk", "number of files"]));
  });
});
