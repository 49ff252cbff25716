import fc from "fast-check";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { identifierOf, maxNameChars } from "./naming.ts";

/** Pinned: programs, policies and journals hold these names. A change here breaks what people saved. */
const pinned: readonly (readonly [string, string])[] = [
  ["get_user", "get_user"],
  ["get-user", "get_user"],
  ["getUser", "getUser"],
  ["delete", "delete_"],
  ["delete_", "delete_"],
  ["3d", "_3d"],
  ["名前", "__"],
  ["😀", "_"],
  ["then", "then_"],
  ["constructor", "constructor_"],
  ["prototype", "prototype_"],
  ["__proto__", "__proto___"],
  ["__init__", "__init___"],
  ["toString", "toString_"],
  ["search", "search"],
  ["from", "from_"],
  ["None", "None_"],
  ["lambda", "lambda_"],
  ["undefined", "undefined_"],
  ["async", "async_"],
  ["a.b/c d", "a_b_c_d"],
];

describe("identifierOf", () => {
  test.each(pinned)("code-mode 12: makes %j into %s", (name, identifier) => {
    expect(identifierOf(name, "tool")).toBe(identifier);
  });

  test("code-mode 12: keeps the runtime's own members of tools free among namespaces", () => {
    expect(["search", "describe", "sleep", "waitFor", "files"].map((name) => identifierOf(name, "namespace"))).toEqual(["search_", "describe_", "sleep_", "waitFor_", "files"]);
  });

  test("refuses an empty or overlong name", () => {
    for (const name of ["", "x".repeat(maxNameChars + 1)]) expect(() => identifierOf(name, "tool")).toThrow(expect.objectContaining({ code: "TOOL_INVALID" }) as Error);
  });

  const nasty = fc.oneof(
    fc.constantFrom(...pinned.map(([name]) => name), "Infinity", "eval", "arguments", "await", "yield", "let", "static", "enum", "True", "__dict__", "valueOf", "toJSON", "hasOwnProperty"),
    fc.string({ minLength: 1, maxLength: 30, unit: "binary" }),
    fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom("_", "-", "0", "a", "A", "$", "é") }),
  );

  test("code-mode 12: gives every name an identifier that works in TypeScript and Python, and is a name of its own", () => {
    fc.assert(
      fc.property(nasty, (name) => {
        const identifier = identifierOf(name, "tool");
        expect(identifier).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
        expect(identifierOf(identifier, "tool")).toBe(identifier);
        expect(identifier in {}).toBe(name === "hasOwnProperty");
        const module = ts.transpileModule(`"use strict"; export function ${identifier}() {} import { ${identifier} as other } from "x"; other(); const { ${identifier}: third } = globalThis; third();`, { reportDiagnostics: true });
        expect(module.diagnostics).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
