import { createTypeScriptChecker } from "@callgate/check-typescript";
import type { Checker, CheckReport } from "@callgate/contract";
import { afterAll, describe, expect, test } from "vitest";
import { createProgramCheck } from "./program-check.ts";
import { positionInModelText } from "./report-at.ts";

const programCheck = createProgramCheck({ checkers: [createTypeScriptChecker()] });
afterAll(() => programCheck.close());
const check = (text: string, language: "typescript" | "javascript" | "python" = "typescript"): Promise<CheckReport> => programCheck.check({ text, language, namespaces: [], lane: "execute", limits: { sourceBytes: 262_144 } }, new AbortController().signal);

/** Accepts every program. */
const anything: Checker = {
  language: "typescript",
  check: async ({ text }) => ({ kind: "ok", form: "script", code: text, lineOffset: 0, shiftedLines: [], diagnostics: [], repairs: [], reach: { tools: [], effects: [] }, durationMs: 0 }),
  warm: async () => undefined,
  close: async () => undefined,
};

describe("createProgramCheck", () => {
  test("a finding of the scanner refuses a program where its rule says deny, else it comes with the report", async () => {
    const request = { text: "```ts\nreturn 1;\nx.constructor;\neval('1');\n```", language: "typescript", namespaces: [], lane: "execute", limits: { sourceBytes: 1_000 } } as const;
    const denying = createProgramCheck({ checkers: [anything], scan: { JS_EVAL: "deny" } });
    expect(await denying.check(request, new AbortController().signal)).toMatchObject({ kind: "rejected", diagnostics: [{ severity: "error", code: "JS_EVAL", line: 4, column: 1, excerpt: "eval('1');" }] });
    expect(await createProgramCheck({ checkers: [anything] }).check(request, new AbortController().signal)).toMatchObject({ kind: "ok", diagnostics: [{ severity: "warning", code: "JS_EVAL", line: 4 }] });
  });

  test("code-mode 10: gives places in the model's own text", async () => {
    const report = await check("Here you go:\n\n- run\n\n  ```ts\n  const a = 1;\n  return nope;\n  ```\n");
    expect(report).toMatchObject({ kind: "rejected", repairs: [{ kind: "unwrapped", line: 5 }], diagnostics: [{ code: "TS2304", line: 7, column: 10, excerpt: "return nope;" }] });
  });

  test("maps a place of the running code back", async () => {
    const text = "```js\nconst a = 1;\n\nasync () => { boom() }\nfunction boom() { throw 1; }\n```";
    const report = await check(text);
    if (report.kind !== "ok") throw new Error("rejected");
    const lines = report.code.split("\n");
    const line = lines.findIndex((at) => at.includes("boom() }")) + 1;
    const column = (lines[line - 1] ?? "").indexOf("boom()") + 1;
    expect(positionInModelText(report, { line, column })).toEqual({ line: 4, column: 15 });
  });

  test("refuses what breaks a bound before any parser, at its place", async () => {
    expect(await check(`Sure:\n\`\`\`ts\nlet x = 1;\nx = ${"[".repeat(300)};\n\`\`\``)).toMatchObject({ kind: "rejected", diagnostics: [{ code: "TOO_DEEP", line: 4 }] });
    expect(await check("x".repeat(600_000))).toMatchObject({ kind: "rejected", diagnostics: [{ code: "SOURCE_TOO_LARGE", line: 1 }] });
    expect(await check("  \n ")).toMatchObject({ kind: "rejected", diagnostics: [{ code: "NO_PROGRAM" }] });
  });

  test("says that a truncated answer was cut off", async () => {
    const report = await check("```ts\nreturn {");
    expect(report.diagnostics.map(({ code }) => code)).toEqual(["TS1005", "FENCE_NOT_CLOSED"]);
  });

  test("takes JavaScript, and says which languages there are", async () => {
    expect(await check("return 1", "javascript")).toMatchObject({ kind: "ok" });
    await expect(check("1", "python")).rejects.toMatchObject({ code: "USAGE" });
  });
});

describe("a program that passed", () => {
  function counting() {
    const asked: string[] = [];
    const ok: CheckReport = { kind: "ok", form: "script", code: "", lineOffset: 0, shiftedLines: [], diagnostics: [], repairs: [], reach: { tools: [], effects: [] }, durationMs: 1 };
    const refused: CheckReport = { kind: "rejected", diagnostics: [], repairs: [], durationMs: 1 };
    const programs = createProgramCheck({
      checkers: [{ language: "typescript", warm: () => Promise.resolve(), close: () => Promise.resolve(), check: ({ text }) => (asked.push(text), Promise.resolve(text.includes("wrong") ? refused : ok)) }],
    });
    const ask = (text: string, digest = "d1", lane: "query" | "execute" = "execute") =>
      programs.check({ text, language: "typescript", lane, limits: { sourceBytes: 10_000 }, namespaces: [{ namespace: "a", text: "", digest, tools: [] }] }, new AbortController().signal);
    return { asked, ask };
  }

  test("is not checked again while declarations and lane are the same", async () => {
    const { asked, ask } = counting();
    await ask("return 1");
    expect(await ask("return 1")).toMatchObject({ kind: "ok" });
    expect(asked).toHaveLength(1);
    await ask("return 1", "d2");
    await ask("return 1", "d1", "query");
    await ask("return 2");
    expect(asked).toHaveLength(4);
  });

  test("a refusal is checked again: it may have been a deadline's", async () => {
    const { asked, ask } = counting();
    await ask("wrong");
    await ask("wrong");
    expect(asked).toHaveLength(2);
  });
});
