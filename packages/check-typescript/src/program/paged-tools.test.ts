import { describe, expect, test } from "vitest";
import type { CheckReport, Lane } from "@callgate/contract";
import { checkProgram } from "./check-program.ts";
import { createCompiler } from "./compiler.ts";
import { createEnvironment, knownNamespace } from "./environment.ts";

/** As the catalog declares a paged tool that reads, one that writes, and a tool that is called as the member is. */
const text = `declare module "tools/shop" {
  export function list(input: { size?: number }): Promise<{ page: { id: number }[]; next?: { [key: string]: unknown } }>;
  export namespace list {
    function pages(input: Parameters<typeof list>[0]): AsyncIterable<Awaited<ReturnType<typeof list>>["page"]>;
  }
  export function sweep(input?: { size?: number }): Promise<{ page: string[]; next?: { [key: string]: unknown } }>;
  export namespace sweep {
    function pages(input?: Parameters<typeof sweep>[0]): AsyncIterable<Awaited<ReturnType<typeof sweep>>["page"]>;
  }
  export function pages(input?: { of: string }): Promise<number>;
}
`;
const environment = createEnvironment([knownNamespace("shop", text, new Map([["list", "read"], ["sweep", "write"], ["pages", "write"]]))]);
const compiler = createCompiler();
const check = (program: string, lane: Lane = "execute"): CheckReport => checkProgram({ text: program, environment, lane, known: undefined }, compiler);

describe("pages of a tool", () => {
  test("have the type of a page, and are calls of that tool and of no other", () => {
    const report = check("let sum = 0;\nfor await (const page of tools.shop.list.pages({ size: 2 })) for (const { id } of page) sum += id;\nreturn sum;", "query");
    expect(report).toMatchObject({ kind: "ok", diagnostics: [], reach: { tools: ["shop.list"], effects: ["read"] } });
  });

  test.each([
    ["a wrong field", "for await (const page of tools.shop.list.pages({})) return page[0]?.colour;"],
    ["a wrong argument", "for await (const page of tools.shop.list.pages({ sise: 1 })) return page;"],
    ["no await", "for (const page of tools.shop.list.pages({})) return page;"],
    ["a tool that is not paged", "for await (const page of tools.shop.pages.pages({})) return page;"],
  ])("are checked: %s", (_what, program) => expect(check(program).kind).toBe("rejected"));

  test("of a write are a write", () => {
    expect(check("for await (const page of tools.shop.sweep.pages()) return page;", "query").diagnostics.map(({ code }) => code)).toContain("LANE_WRITE");
  });
});
