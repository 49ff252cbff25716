import { CallgateError } from "@callgate/contract";
import type { Checker, CheckReport } from "@callgate/contract";
import { afterEach, describe, expect, test } from "vitest";
import { namespaces } from "./fixtures/harness.ts";
import { createTypeScriptChecker } from "./typescript-checker.ts";
import type { TypeScriptCheckerOptions } from "./typescript-checker.ts";

const open: Checker[] = [];
function create(options?: TypeScriptCheckerOptions): (text: string, signal?: AbortSignal) => Promise<CheckReport> {
  const checker = createTypeScriptChecker(options);
  open.push(checker);
  return (text, signal = new AbortController().signal) => checker.check({ text, namespaces, lane: "execute", limits: { sourceBytes: 4 * 1024 * 1024 } }, signal);
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((checker) => checker.close()));
});

const codeOf = (report: CheckReport): string | undefined => report.diagnostics[0]?.code;

/** Takes any type checker longer than anybody waits. */
const slow = `type Grow<T extends unknown[], N extends number> = T["length"] extends N ? T : Grow<[...T, 0], N>;\n${Array.from({ length: 400 }, (_, i) => `const a${i}: Grow<[], ${900 + (i % 90)}> = [] as any as Grow<[], ${900 + (i % 90)}> & ${i};`).join("\n")}\nreturn 1;`;

describe("createTypeScriptChecker", () => {
  test("checks in its own thread, with the tools' declarations", async () => {
    const check = create();
    expect(await check('return (await tools.documents.get_document({ document_id: "d" })).content;')).toMatchObject({ kind: "ok", form: "script" });
    expect(codeOf(await check("return tools.documents.nothing_like_it();"))).toBe("TS2339");
  });

  test("answers in turn when asked at once", async () => {
    const check = create();
    const reports = await Promise.all(["return 1;", "return x1;", "return 2;", "return {"].map((text) => check(text)));
    expect(reports.map(({ kind }) => kind)).toEqual(["ok", "rejected", "ok", "rejected"]);
  });

  test.each([
    ["brackets", (n: number) => `x=${"[".repeat(n)}${"]".repeat(n)}`],
    ["functions", (n: number) => `${"function f(){".repeat(n)}${"}".repeat(n)}`],
    ["templates", (n: number) => `x=${"`${".repeat(n)}1${"}`".repeat(n)}`],
    ["unary operators", (n: number) => `x=${"!".repeat(n)}1`],
    ["else if", (n: number) => `if(a){}${"else if(a){}".repeat(n)}`],
    ["binary operators", (n: number) => `let x=${"1+".repeat(n)}1`],
    ["type arguments", (n: number) => `let x:${"A<".repeat(n)}B${">".repeat(n)}`],
  ])("js-036 js-037 refuses %s without a pre-scan, and works for the next program", async (_name, make) => {
    const check = create({ cpuMs: 8_000 });
    const report = await check(make(20_000)).catch((thrown: unknown) => (CallgateError.is(thrown) ? thrown.code : thrown));
    expect(report === "CHECKER_FAILED" || (typeof report === "object" && report !== null && "kind" in report)).toBe(true);
    expect(await check("const a: number = 1; return a")).toMatchObject({ kind: "ok" });
  });

  test("ends a check that takes too long, and works for the next program", async () => {
    const check = create({ cpuMs: 1_000 });
    await check("return 1;");
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 20);
    expect(codeOf(await check(slow))).toBe("CHECK_TIMEOUT");
    clearInterval(ticking);
    // The host's own thread was never held up.
    expect(ticks).toBeGreaterThan(20);
    expect(await check("return 1;")).toMatchObject({ kind: "ok" });
  });

  test("says CHECKER_FAILED when its memory ends, and works for the next program", async () => {
    const check = create({ memoryMiB: 64 });
    const failure = await check(`return [${"{a:1,b:'x'},".repeat(120_000)}];`).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: "CHECKER_FAILED" });
    expect(await check("return 1;")).toMatchObject({ kind: "ok" });
  });

  test("stops when the signal says so", async () => {
    const check = create();
    await check("return 1;");
    const abort = new AbortController();
    const report = check(slow, abort.signal);
    setTimeout(() => {
      abort.abort(new Error("no longer wanted"));
    }, 100);
    await expect(report).rejects.toThrow("no longer wanted");
    expect(await check("return 1;")).toMatchObject({ kind: "ok" });
  });

  test("holds itself to the bound for bytes", async () => {
    const checker = createTypeScriptChecker();
    open.push(checker);
    const report = await checker.check({ text: "return 12;", namespaces: [], lane: "execute", limits: { sourceBytes: 5 } }, new AbortController().signal);
    expect(codeOf(report)).toBe("SOURCE_TOO_LARGE");
  });

  test("keeps its memory bounded and replaces its thread beside the work", async () => {
    const check = create({ recycleChecks: Math.max(40, Number(process.env["CALLGATE_CHECKS"] ?? 0) / 6) });
    const checks = Number(process.env["CALLGATE_CHECKS"] ?? 200);
    const before = process.memoryUsage().rss;
    for (let index = 0; index < checks; index++) {
      const report = await check(`const d${index} = await tools.documents.get_document({ document_id: "${index}" });\nreturn d${index}.content;`);
      expect(report.kind).toBe("ok");
    }
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(700);
  });

  test("is closed once and for all", async () => {
    const checker = createTypeScriptChecker();
    await checker.warm(namespaces);
    await checker.close();
    await expect(checker.check({ text: "return 1;", namespaces, lane: "execute", limits: { sourceBytes: 100 } }, new AbortController().signal)).rejects.toMatchObject({ code: "CLOSED" });
  });
});
