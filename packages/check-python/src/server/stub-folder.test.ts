import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonSchema, Tool } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { declarePython } from "../../../runtime/src/catalog/types/declare-python.ts";
import { identifierOf } from "../../../runtime/src/catalog/naming.ts";
import { defineTool } from "../../../runtime/src/source/define-tool.ts";
import { startLanguageServer } from "./language-server.ts";

const catalogs = new URL("../../../../../shared/data/mcp/", import.meta.url);

/** The stubs of one recorded server, as its gate declares them. */
function stubOf(file: string): string {
  const { tools } = JSON.parse(readFileSync(new URL(file, catalogs), "utf8")) as { tools: { name: string; description?: string; inputSchema: JsonSchema; outputSchema?: JsonSchema }[] };
  const specs = tools.map(({ name, description, inputSchema, outputSchema }): Tool => ({ ...defineTool({ name, description: description ?? name, input: { type: "object" }, handler: () => null }), description: description ?? "", input: inputSchema, ...(outputSchema === undefined ? {} : { output: outputSchema }) }));
  return declarePython("t", specs.map((spec) => ({ member: identifierOf(spec.name, "tool"), spec })));
}

/** Every stub has the same first lines, whether it needs each name or not. */
const accepted: ReadonlySet<string> = new Set(["reportUnusedImport"]);

describe("declarePython under pyright strict", { timeout: 120_000 }, () => {
  test.skipIf(!existsSync(catalogs))("the stubs of 22 real MCP servers have no finding (skipped without ../shared/data/mcp)", async () => {
    const folder = mkdtempSync(join(tmpdir(), "callgate-stubs-"));
    writeFileSync(join(folder, "pyrightconfig.json"), JSON.stringify({ typeCheckingMode: "strict", pythonVersion: "3.11" }));
    const server = startLanguageServer({ folder, memoryMiB: 512 });
    try {
      const files = readdirSync(catalogs).filter((name) => name !== "servers.json");
      expect(files.length).toBeGreaterThanOrEqual(22);
      for (const [index, file] of files.entries()) {
        const findings = await server.diagnose(join(folder, `stub${index}.pyi`), stubOf(file));
        expect(findings.filter(({ severity, code }) => severity !== undefined && severity <= 2 && !accepted.has(String(code))).map(({ code, message, range }) => `${file}:${range.start.line + 1} ${code ?? "syntax"} ${message}`)).toEqual([]);
      }
      const broken = await server.diagnose(join(folder, "broken.pyi"), "def f(*, a: Missing) -> int: ...");
      expect(broken.map(({ code }) => code)).toContain("reportUndefinedVariable");
    } finally {
      await server.end();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
