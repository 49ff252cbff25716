import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { promptNames, promptText } from "./prompts.ts";

/** A text that changes needs a new version of its file: what a recorded conversation was told stays readable. */
test("the shipped prompts of version 1 are as they were shipped", () => {
  const digests = Object.fromEntries(promptNames.map((name) => [name, createHash("sha256").update(promptText(name)).digest("hex").slice(0, 12)]));
  expect(digests).toMatchInlineSnapshot(`
    {
      "base": "e97d8670c2b0",
      "blocks": "d4ff5d0a9315",
      "closing": "8136e3d756d2",
      "code": "3a129bcdc562",
      "extract": "80eea4bbe161",
      "output": "d7160b73b250",
      "select": "4f779d4fe290",
      "selected": "a3694e7bd211",
      "summarize": "1669b88d977a",
      "tools": "97380764a9ee",
    }
  `);
});

test("a text of the user's own takes the place of a shipped one", () => {
  expect(promptText("base", { base: "Mine." })).toBe("Mine.");
});
