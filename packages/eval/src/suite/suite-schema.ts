import type { ScriptedTurn } from "@callgate/agent";
import { z } from "zod";
import { caseKinds } from "./eval-suite.ts";

const name = z.string().regex(/^[A-Za-z0-9._-]{1,80}$/, "must be 1 to 80 letters, digits, dots, - and _");
const mode = z.enum(["tools", "code", "select", "blocks", "auto"]);
const count = z.int().min(0);

const call = z.strictObject({ tool: z.string().min(1), input: z.json().optional().describe("Arguments; a text is sent as it is, also where it is no JSON"), callId: z.string().optional() });
const turn = z.union([z.string(), z.strictObject({ text: z.string().optional(), calls: z.array(call).optional(), usage: z.strictObject({ inputTokens: count, outputTokens: count }).optional(), delayMs: count.optional() })]);
const script = z.array(turn).min(1).transform((turns) => turns as readonly ScriptedTurn[]);

const workKeys = {
  script: script.optional().describe("What stands in for a model, turn by turn: a text is an answer; { text, calls: [{ tool, input }] } calls"),
  mode: mode.optional().describe("How the script, or a model, reaches tools. Default: the suite's"),
  program: z.string().min(1).optional().describe("In place of a script: a program that is run as it is; what it returns is the answer"),
  programFile: z.string().min(1).optional().describe("The same, in a file: a path from the suite's folder"),
  language: z.enum(["typescript", "javascript", "python"]).optional().describe("Of the program. Default typescript"),
};
const worksIn = ({ script: turns, program, programFile }: { readonly script?: unknown; readonly program?: unknown; readonly programFile?: unknown }): number => [turns, program, programFile].filter((one) => one !== undefined).length;
const work = z.strictObject(workKeys).refine((one) => worksIn(one) === 1, "is one of script, program and programFile");

const outcomes = ["ok", "failed", "timed_out", "cancelled", "denied", "invalid_input", "invalid_output", "limit_exceeded"] as const;

/** A check that holds of anything is a mistake where it is written, not when it is run. */
const stateCheck = z
  .strictObject({
    path: z.string().regex(/^(\/.*)?$/s, "must be a JSON Pointer: empty, or beginning with /").describe("JSON Pointer into the state; \"\" is all of it"),
    equals: z.json().optional().describe("Is exactly that"),
    includes: z.json().refine((value) => value !== "", "holds of every text: name what must be in it").optional().describe("A part of a text, an item of a list, or a text anywhere in an object"),
    excludes: z.json().refine((value) => value !== "", "holds of no text: name what must not be in it").optional().describe("The opposite of includes"),
    matches: z.string().refine((pattern) => isPattern(pattern), "is no regular expression").refine((pattern) => !isPattern(pattern) || !new RegExp(pattern, "su").test(""), "matches the empty text, and so nearly every other: say more").optional().describe("A regular expression over a text"),
    count: count.optional().describe("Items of a list, keys of an object, characters of a text"),
    atLeast: z.number().optional().describe("Of a number, or of that count"),
    atMost: z.number().optional(),
    exists: z.boolean().optional().describe("Is there, or is not"),
    unchanged: z.literal(true).optional().describe("As it was before the attempt"),
  })
  .refine((check) => Object.keys(check).length > 1, "checks nothing: add equals, includes, excludes, matches, count, atLeast, atMost, exists or unchanged");

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "su").test("");
    return true;
  } catch {
    return false;
  }
}

const budgets = z.strictObject({ turns: z.int().positive(), toolCalls: count, tokens: z.int().positive(), microUsd: count, wallMs: z.int().positive() }).partial();
const patterns = z.array(z.string().min(1));

const evalCase = z
  .strictObject({
    id: name,
    kind: z.enum(caseKinds).describe("What the case is about; figures are given for each"),
    title: z.string().min(1).optional(),
    tags: z.array(name).default([]).describe("Figures are given for each"),
    task: z.string().min(1).describe("What the subject is asked to do"),
    given: z.json().default({}).describe("Handed to the environment: what is there, and what goes wrong"),
    principal: z.strictObject({ tenant: z.string(), user: z.string(), roles: z.array(z.string()), claims: z.record(z.string(), z.json()) }).partial().optional().describe("On whose behalf. Default: the gate's"),
    lane: z.enum(["query", "execute"]).optional(),
    submissions: z.int().min(1).max(20).default(1).describe("How often the task is submitted, one after the other, as one piece of work"),
    ...workKeys,
    mustFail: z.array(work).default([]).describe("Scripts and programs that must not pass; --prove tries them"),
    effects: z
      .strictObject({ allowed: patterns.default([]).describe("Patterns over tools: only these may change anything. Default: nothing may"), forbidden: patterns.default([]).describe("These may not even be reached, though they only read") })
      .default({ allowed: [], forbidden: [] }),
    calls: z.array(z.strictObject({ tool: z.string().min(1), outcome: z.enum(outcomes).optional(), effect: z.enum(["none", "done", "unknown"]).optional(), times: count.optional().describe("Exactly so many. Default: at least one") })).default([]).describe("Calls that must be on record"),
    state: z.array(stateCheck).default([]).describe("What must hold of the end state"),
    answer: z.strictObject({ includes: z.array(z.string().min(1)).default([]), excludes: z.array(z.string().min(1)).default([]) }).default({ includes: [], excludes: [] }).describe("What must, and must not, be in the last word to the user"),
    budgets: budgets.default({}).describe("One attempt that goes over any has failed. Default: the suite's"),
    skip: z.string().min(1).optional().describe("Why it is not tried; it counts as skipped, never as passed"),
  })
  .refine((one) => worksIn(one) <= 1, "has more than one of script, program and programFile: the subject is one of them")
  .refine(({ state, answer, calls }) => state.length + answer.includes.length + calls.length > 0, "demands nothing, so that doing nothing passes: add state, calls or answer.includes");

export const suiteSchema = z
  .strictObject({
    name,
    environment: z.string().min(1).describe("The module that exports `environment`, from the suite's folder"),
    mode: mode.optional().describe("How scripts and models reach tools. Default auto"),
    instructions: z.string().optional().describe("For the model, in every case"),
    budgets: budgets.default({}).describe("Of cases that have none of their own"),
    cases: z.array(evalCase).min(1),
  })
  .superRefine(({ cases }, context) => {
    const first = new Map<string, number>();
    cases.forEach(({ id }, index) => {
      const before = first.get(id);
      if (before !== undefined) context.addIssue({ code: "custom", path: ["cases", index, "id"], message: `"${id}" is the id of case ${before + 1} as well` });
      first.set(id, before ?? index);
    });
  });

export type WrittenSuite = z.infer<typeof suiteSchema>;
export type WrittenCase = WrittenSuite["cases"][number];
