import { CallgateError } from "@callgate/contract";
import { afterAll, describe, expect, test } from "vitest";
import { createProcessDriver } from "../driver.ts";
import { suiteLaunchers } from "../fixtures/launchers.ts";
import { runSource } from "../fixtures/run-source.ts";
import { commandLanguage } from "./command-language.ts";

describe("commandLanguage", () => {
  test.each([
    ["python", { command: ["python3.13"] }, "own"],
    ["Ruby", { command: ["ruby"] }, "lower case"],
    ["", { command: ["ruby"] }, "lower case"],
    ["ruby", { command: [] }, "command"],
    ["ruby", { command: ["ruby", ""] }, "command"],
    ["ruby", { command: ["ruby"], extension: "../rb" }, "extension"],
  ])("refuses %j with %j", (name, template, why) => {
    expect(() => commandLanguage(name, template)).toThrow(CallgateError);
    expect(() => commandLanguage(name, template)).toThrow(why);
  });
});

for (const { name, create, skip } of await suiteLaunchers()) {
  describe.skipIf(skip !== undefined)(`languages by command, ${name}${skip === undefined ? "" : ` (skipped: ${skip})`}`, { timeout: 60_000 }, () => {
    const driver = createProcessDriver({
      launcher: create(),
      languages: [
        commandLanguage("perl", { command: ["perl"], extension: "pl", environment: { GREETING: "hello" } }),
        commandLanguage("awk", { command: ["awk", "-f", "{file}", "--", "more"] }),
        commandLanguage("twice", { command: ["sh", "-c", "cat {file} '{file}'; echo $1:$2", "sh", "a={file}=b", "it's"] }),
        commandLanguage("cobol", { command: ["no-such-cobol", "-x"] }),
      ],
    });
    afterAll(() => driver.close());

    test("a program runs as a file with the ending and the environment of its language; its exit code is the end", async () => {
      expect(await runSource(driver, 'print "$ENV{GREETING} ", $0 =~ /\\.pl$/ ? "pl" : $0', { language: "perl" })).toMatchObject({ out: "hello pl", end: { kind: "returned" } });
      expect(await runSource(driver, "die 'gone'", { language: "perl" })).toMatchObject({ err: expect.stringMatching(/^gone at .*line 1/) as string, end: { kind: "threw", error: { code: "EXIT_CODE" } } });
    });

    test("{file} is the program, wherever and however often it stands in the command", async () => {
      expect(await runSource(driver, 'BEGIN { print ARGV[1]; exit 3 }', { language: "awk" })).toMatchObject({ out: "more", end: { kind: "threw", error: { code: "EXIT_CODE" } } });
      expect((await runSource(driver, "text\n", { language: "twice" })).out).toMatch(/^text\ntext\na=[^{]*\/program\.twice=b:it's$/);
    });

    test("a command that is not there is said, and nothing ran", async () => {
      expect((await runSource(driver, "DISPLAY 1.", { language: "cobol" })).end).toEqual({ kind: "crashed", message: "the command no-such-cobol of the language cobol is not there in the sandbox", missingProgram: "no-such-cobol" });
    });
  });
}
