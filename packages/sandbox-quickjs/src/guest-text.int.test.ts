import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { guestText, guestTextPath } from "../build-guest.mjs";

test("guest-text.ts is what src/guest/ says (when red: node packages/sandbox-quickjs/build-guest.mjs)", async () => {
  expect(readFileSync(guestTextPath, "utf8") === (await guestText())).toBe(true);
});
