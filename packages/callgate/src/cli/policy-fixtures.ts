import { readFile } from "node:fs/promises";
import { CallgateError } from "@callgate/contract";
import type { GatePolicy, ParseIssue } from "@callgate/contract";
import { listIssues } from "@callgate/runtime/text";
import { parse, YAMLParseError } from "yaml";
import { z } from "zod";
import { completePrincipal } from "../principal-input.ts";

const principal = z.strictObject({ tenant: z.string(), user: z.string(), agent: z.string(), roles: z.array(z.string()), claims: z.record(z.string(), z.json()) }).partial();
const common = { name: z.string().optional(), principal: principal.optional(), lane: z.enum(["query", "execute"]).optional(), rule: z.string().optional().describe("The rule that must have decided") };

const callCase = z.strictObject({ ...common, tool: z.string().min(1), args: z.unknown().optional(), result: z.unknown().optional().describe("What the tool answered: the case is about whether the program may have it"), at: z.iso.datetime().optional(), callsBefore: z.int().min(0).optional(), taint: z.array(z.string()).optional(), expect: z.enum(["allow", "ask", "deny", "hidden"]) });
const runCase = z.strictObject({ ...common, run: z.string().min(1), launcher: z.string().optional(), mounts: z.array(z.string()).optional(), network: z.array(z.string()).optional(), packages: z.array(z.string()).optional(), reach: z.array(z.enum(["read", "write", "destructive"])).optional(), newAgent: z.boolean().optional(), expect: z.enum(["allow", "ask", "deny"]) });
const fixtures = z.strictObject({ cases: z.array(z.union([callCase, runCase])).min(1) });

export type PolicyFixture = z.infer<typeof callCase> | z.infer<typeof runCase>;

/** How one case came out. */
export interface FixtureResult {
  readonly name: string;
  readonly isRight: boolean;
  readonly expected: string;
  readonly found: string;
  readonly ruleId: string;
}

/** Reads cases of JSON or YAML. Errors: `CallgateError` USAGE with the file and the place. */
export async function readPolicyFixtures(file: string): Promise<readonly PolicyFixture[]> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CallgateError("USAGE", `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  const parsed = fixtures.safeParse(parseText(text, file));
  if (parsed.success) return parsed.data.cases;
  const issues = parsed.error.issues.map(({ path, message }) => `  ${path.map(String).join(".") || "the top"}: ${message}`);
  throw new CallgateError("USAGE", `${file} holds no cases of a policy: { "cases": [{ "tool": "crm.pay", "args": {}, "expect": "ask" }] }, or "run": "python" in place of "tool"\n${issues.join("\n")}`);
}

function parseText(text: string, file: string): unknown {
  try {
    // Every JSON text is YAML. Aliases that grow are bounded by the reader itself.
    return parse(text);
  } catch (cause) {
    const where = cause instanceof YAMLParseError && cause.linePos !== undefined ? `:${cause.linePos[0].line}:${cause.linePos[0].col}` : "";
    throw new CallgateError("USAGE", `${file}${where}: ${cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : "no YAML"}`, { cause });
  }
}

export async function runFixture(policy: GatePolicy, fixture: PolicyFixture): Promise<FixtureResult> {
  const { decision, found } = "tool" in fixture ? await decideCall(policy, fixture) : decideRun(policy, fixture);
  const expected = fixture.rule === undefined ? fixture.expect : `${fixture.expect} by ${fixture.rule}`;
  const isRight = found === fixture.expect && (fixture.rule === undefined || decision === fixture.rule);
  return { name: fixture.name ?? ("tool" in fixture ? `${fixture.tool} ${JSON.stringify(fixture.args ?? {})}` : `run ${fixture.run}`), isRight, expected, found, ruleId: decision };
}

interface Found {
  readonly decision: string;
  readonly found: string;
}

const noSuchTool: Found = { decision: "", found: "no such tool" };

function misfit(issues: readonly ParseIssue[]): Found {
  return { decision: "", found: `invalid input: ${listIssues(issues)}` };
}

/** Without `args` a case is about the tool; with them they have to fit it, for a call whose arguments do not is decided by no rule. */
async function decideCall(policy: GatePolicy, { tool, args, result, principal: given, lane, at, callsBefore, taint }: z.infer<typeof callCase>): Promise<Found> {
  const options = { principal: completePrincipal(given ?? {}), ...(lane === undefined ? {} : { lane }), ...(at === undefined ? {} : { atMs: Date.parse(at) }), ...(callsBefore === undefined ? {} : { callsBefore }), ...(taint === undefined ? {} : { taint }) };
  if (result !== undefined) {
    const decided = await policy.explainResult(tool, { args: args ?? {}, result }, options);
    if (decided === undefined) return noSuchTool;
    return args !== undefined && decided.issues !== undefined ? misfit(decided.issues) : { decision: decided.decision.ruleId, found: decided.decision.kind };
  }
  const explained = await policy.explain(tool, args ?? {}, options);
  if (explained === undefined) return noSuchTool;
  const { decision, visible, issues } = explained;
  if (!visible) return { decision: decision.ruleId, found: "hidden" };
  return args !== undefined && issues !== undefined ? misfit(issues) : { decision: decision.ruleId, found: decision.kind };
}

function decideRun(policy: GatePolicy, { run, principal: given, lane, launcher, mounts, network, packages, reach, newAgent }: z.infer<typeof runCase>): Found {
  const surroundings = { ...(launcher === undefined ? {} : { launcher }), ...(mounts === undefined ? {} : { mounts }), ...(network === undefined ? {} : { network }), ...(packages === undefined ? {} : { packages }), ...(reach === undefined ? {} : { reach }), ...(newAgent === undefined ? {} : { newAgent }) };
  const { kind, ruleId } = policy.explainRun(run, { principal: completePrincipal(given ?? {}), ...(lane === undefined ? {} : { lane }), ...surroundings });
  return { decision: ruleId, found: kind };
}
