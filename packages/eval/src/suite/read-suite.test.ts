import { describe, expect, test } from "vitest";
import { parseSuite, readSuite } from "./read-suite.ts";

const head = "name: s\nenvironment: ./e.ts\n";
const told = (text: string): string => {
  try {
    parseSuite(text, "suite.yaml");
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("parseSuite", () => {
  test("a case has what is written, and defaults for the rest; budgets of the suite hold where a case has none", () => {
    const { cases, environment } = parseSuite(`${head}budgets: { turns: 4, tokens: 100 }\ncases:\n  - { id: a, kind: timeout, task: Go, program: "return 1", budgets: { turns: 2 }, state: [{ path: /x, equals: 1 }] }`, "suite.yaml");
    expect(environment).toBe("./e.ts");
    expect(cases).toEqual([{ id: "a", kind: "timeout", tags: [], task: "Go", given: {}, submissions: 1, work: { program: "return 1" }, mustFail: [], effects: { allowed: [], forbidden: [] }, calls: [], state: [{ path: "/x", equals: 1 }], answer: { includes: [], excludes: [] }, budgets: { turns: 2, tokens: 100 } }]);
  });

  test.each([
    ["no YAML", "name: [", /suite\.yaml:1:\d+: /],
    ["a wrong kind", `${head}cases:\n  - id: a\n    kind: happy\n    task: Go\n    state: [{ path: /x, equals: 1 }]`, /suite\.yaml:5:11 cases\.0\.kind: /],
    ["an unknown key", `${head}cases:\n  - { id: a, kind: timeout, task: Go, stat: [], calls: [{ tool: a.b }] }`, /suite\.yaml:4:5 cases\.0: .*"stat"/],
    ["a missing key", `${head}cases:\n  - { id: a, kind: timeout, calls: [{ tool: a.b }] }`, /suite\.yaml:4:5 cases\.0\.task: /],
    ["two cases of one id", `${head}cases:\n  - { id: a, kind: timeout, task: Go, calls: [{ tool: a.b }] }\n  - { id: a, kind: timeout, task: Go, calls: [{ tool: a.b }] }`, /suite\.yaml:5:11 cases\.1\.id: "a" is the id of case 1 as well/],
    ["a script and a program", `${head}cases:\n  - { id: a, kind: timeout, task: Go, script: [x], program: x, calls: [{ tool: a.b }] }`, /cases\.0: has more than one of script, program and programFile/],
    ["a work that is two", `${head}cases:\n  - { id: a, kind: timeout, task: Go, calls: [{ tool: a.b }], mustFail: [{ script: [x], programFile: p.ts }] }`, /cases\.0\.mustFail\.0: is one of script, program and programFile/],
    ["a turn that is none", `${head}cases:\n  - { id: a, kind: timeout, task: Go, calls: [{ tool: a.b }], script: [{ calls: [{ tol: a.b }] }] }`, /cases\.0\.script\.0\.calls\.0/],
    ["a pointer that is none", `${head}cases:\n  - { id: a, kind: timeout, task: Go, state: [{ path: x, equals: 1 }] }`, /cases\.0\.state\.0\.path: must be a JSON Pointer/],
  ])("%s is told with file, line, column and path", (_name, text, expected) => {
    expect(told(text)).toMatch(expected);
  });

  test.each([
    ["nothing is demanded", "state: []", "demands nothing"],
    ["only what must not be said", "answer: { excludes: [x] }", "demands nothing"],
    ["a check of nothing", "state: [{ path: /x }]", "checks nothing"],
    ["a part of every text", 'state: [{ path: /x, includes: "" }]', "holds of every text"],
    ["a part of no text", 'state: [{ path: /x, excludes: "" }]', "holds of no text"],
    ["an expression that matches everything", 'state: [{ path: /x, matches: ".*" }]', "matches the empty text"],
    ["an expression that is none", 'state: [{ path: /x, matches: "(" }]', "is no regular expression"],
  ])("a check that cannot fail is refused: %s", (_name, check, expected) => {
    expect(told(`${head}cases:\n  - { id: a, kind: timeout, task: Go, ${check} }`)).toContain(expected);
  });

  test("a program may be a file beside the suite; one that is not there is told by name", () => {
    const { cases } = parseSuite(`${head}cases:\n  - { id: a, kind: timeout, task: Go, programFile: ./read-suite.test.ts, calls: [{ tool: a.b }], mustFail: [{ programFile: ./read-suite.test.ts, language: javascript }] }`, `${import.meta.dirname}/suite.yaml`);
    const program = expect.stringContaining("one that is not there") as string;
    expect(cases[0]).toMatchObject({ work: { program }, mustFail: [{ program, language: "javascript" }] });
    expect(told(`${head}cases:\n  - { id: a, kind: timeout, task: Go, programFile: ./gone.ts, calls: [{ tool: a.b }] }`)).toMatch(/suite\.yaml: the program \.\/gone\.ts cannot be read/);
  });

  test("a file that is not there is told by name", async () => {
    await expect(readSuite("/nowhere/suite.yaml")).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("/nowhere/suite.yaml cannot be read") as string });
  });
});
