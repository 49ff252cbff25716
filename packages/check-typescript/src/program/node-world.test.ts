import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { CheckReport } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { check, checkIn, first } from "../fixtures/harness.ts";

const typesFolder = dirname(createRequire(import.meta.url).resolve("@types/node/package.json"));
const typed = checkIn({ packages: ["left-pad", "@scope/thing"], typesFolder });
const untyped = checkIn({ packages: [], typesFolder: undefined });

function codeOf(report: CheckReport): string {
  if (report.kind !== "ok") throw new Error(`rejected: ${JSON.stringify(report.diagnostics, undefined, 1)}`);
  return report.code;
}

describe("programs of Node", () => {
  test("modules of Node, packages that are named and files of the working folder can be imported, in every form", () => {
    const program = [
      'import fs, { readFileSync, statSync as stat } from "node:fs";',
      'import * as path from "path";',
      'import type { Stats } from "node:fs";',
      'import "node:process";',
      'import pad from "left-pad";',
      'import { deep } from "@scope/thing/deep";',
      'import { own } from "./own.mjs";',
      'import { documents } from "tools";',
      'const kind: Stats = stat("a");',
      'const { createHash } = await import("node:crypto");',
      'const os = require("node:os");',
      'return [fs.existsSync("a"), readFileSync("a", "utf8").length, path.join("a", "b"), kind.size, pad, deep, own, createHash("sha256"), os.cpus(), process.version, Buffer.from("a"), documents];',
    ].join("\n");
    const code = codeOf(typed(program));
    expect(code).toContain('const { default: fs, readFileSync: readFileSync, statSync: stat } = await $callgate.import("node:fs"); const path = await $callgate.import("path"); await $callgate.import("node:process");');
    expect(code).toContain('await $callgate.import("node:crypto")');
    expect(code).not.toContain("Stats");
    codeOf(untyped(program.replace(/.*(?:left-pad|@scope).*\n/g, "").replace("pad, deep, ", "")));
  });

  test("the embedded sandbox goes on refusing all of that", () => {
    for (const program of ['import fs from "node:fs"; return fs', 'return require("node:fs")', 'return await import("node:fs")', "return process.version", "return Buffer.from('a')", 'import { own } from "./own.mjs"; return own']) expect(check(program).kind, program).toBe("rejected");
  });

  test("what is done with Node's modules is checked, at its place", () => {
    expect(first(typed('import { readFileSync } from "node:fs";\nreturn readFileSync("a").foo()'))).toMatch(/^error TS2339 2:\d+ .*foo/);
    expect(first(typed('const a = 1;\nimport { readFileSink } from "node:fs";\nreturn readFileSink(a)'))).toMatch(/^error TS\d+ 2:1 .*readFileSink/);
    expect(first(typed('import { setTimeout as wait } from "node:timers/promises";\nawait wait("x");\nreturn 1'))).toMatch(/^error TS2345 2:/);
    expect(first(typed('import { documents } from "tools";\nimport { writeFileSync } from "node:fs";\nwriteFileSync("out/a.txt", (await documents.get_document({ document_id: "d" })).wording);'))).toMatch(/^error TS2339 3:.*wording/);
  });

  test("where Node's types are not there, that is said, and nothing of Node is taken for wrong", () => {
    const report = untyped('import { readFileSink } from "node:fs";\nreturn readFileSink(process.nothing)');
    expect(first(report)).toMatch(/^advice NODE_TYPES_MISSING 1:\d+ .*@types\/node/);
    codeOf(report);
    expect(untyped("return 1").diagnostics).toEqual([]);
    expect(first(untyped('import { documents } from "tools";\nreturn (await documents.get_document({ document_id: "d" })).wording'))).toMatch(/^error TS2339 2:/);
  });

  test("a package that nobody named is refused", () => {
    expect(first(typed('import axios from "axios";\nreturn axios'))).toMatch(/^error IMPORT_NOT_ALLOWED 1:1 .*node\.packages/);
    expect(first(typed('return await import("left-padding")'))).toMatch(/^error IMPORT_NOT_ALLOWED/);
  });

  test("with require or global in it, a program may reach every tool", () => {
    const reach = (report: CheckReport): unknown => (report.kind === "ok" ? report.reach.tools : report.diagnostics);
    expect(reach(typed('import { join } from "node:path";\nreturn join("a", "b")'))).toEqual([]);
    expect(reach(typed('return require("node:vm").runInThisContext("tools")'))).toBe("*");
  });
});
