import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { CallExplanation, Gate, GatePolicy, ParseIssue, PolicyDecision, PolicyFinding } from "@callgate/contract";
import { listIssues } from "@callgate/runtime/text";
import { findNodeAtLocation, parseTree } from "jsonc-parser";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readPolicyFixtures, runFixture } from "../policy-fixtures.ts";
import { renderTable } from "../table.ts";
import { counted, visible } from "../terminal.ts";
import { parseArguments, argumentText } from "./call.ts";
import { laneOf } from "./run.ts";

/** `callgate policy check`: 1 when something is an error. */
export async function checkPolicyCommand(context: CommandContext): Promise<ExitCode> {
  const { config, file } = await context.configuration();
  const lines = ruleLines(file, config.rules?.length ?? 0);
  return await context.withGate((gate) => {
    const rules = gate.policy.rules().map((rule) => ({ ...rule, place: lines.get(rule.place) ?? rule.place }));
    const findings = gate.policy.findings().map((finding) => ({ ...finding, place: lines.get(finding.place) ?? finding.place }));
    const errors = findings.filter(({ severity }) => severity === "error").length;
    const { terminal, options } = context;
    if (options.json === true) terminal.out(`${JSON.stringify({ version: gate.policy.version, mode: gate.policy.mode, rules, findings })}\n`);
    else {
      for (const { place, ruleId, verdict, cedar } of rules) terminal.out(`${terminal.outColors.dim(`// ${visible(place)}${place === ruleId ? "" : ` (${visible(ruleId)})`}: ${verdict}`)}\n${visible(cedar)}\n\n`);
      if (rules.length === 0) terminal.out("No rules: reads are allowed, everything else asks\n");
      terminal.out(findings.length === 0 ? `ok · ${counted(rules.length, "rule")}\n` : renderFindings(findings, context));
    }
    return Promise.resolve(errors === 0 ? exitCodes.ok : exitCodes.failed);
  }, { about: "told" });
}

function renderFindings(findings: readonly PolicyFinding[], { terminal }: CommandContext): string {
  const { red, yellow } = terminal.outColors;
  // In lines and not in a table, which would cut off what was meant.
  return findings.map(({ severity, place, message }) => `${severity === "error" ? red(severity) : yellow(severity)} ${visible(place)}: ${visible(message)}\n`).join("");
}

/** `rules[2]` as file, line and column, where the configuration is JSON. */
function ruleLines(file: string | undefined, count: number): ReadonlyMap<string, string> {
  if (file === undefined || !/\.jsonc?$/.test(file) || count === 0) return new Map();
  const text = readFileSync(file, "utf8");
  const tree = parseTree(text, [], { allowTrailingComma: true });
  return new Map(
    Array.from({ length: count }, (_, index) => index).flatMap((index): readonly (readonly [string, string])[] => {
      const node = tree === undefined ? undefined : findNodeAtLocation(tree, ["rules", index]);
      if (node === undefined) return [];
      const before = text.slice(0, node.offset).split("\n");
      return [[`rules[${index}]`, `${relative(process.cwd(), file)}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`]];
    }),
  );
}

/** `callgate policy test FILE...`: 1 when a case fails. */
export async function testPolicyCommand(files: readonly string[], context: CommandContext): Promise<ExitCode> {
  const cases = (await Promise.all(files.map(readPolicyFixtures))).flat();
  return await context.withGate(async (gate) => {
    const results = await Promise.all(cases.map((fixture) => runFixture(gate.policy, fixture)));
    const wrong = results.filter(({ isRight }) => !isRight);
    const { terminal, options } = context;
    if (options.json === true) terminal.out(`${JSON.stringify(results)}\n`);
    else {
      const rows = wrong.map(({ name, expected, found, ruleId }) => [visible(name), expected, ruleId === "" ? visible(found) : `${found} by ${visible(ruleId)}`]);
      if (rows.length > 0) terminal.out(renderTable(["case", "expected", "found"], rows, { columns: terminal.outColumns, colors: terminal.outColors, flexible: 0 }));
      terminal.out(`${wrong.length === 0 ? "ok" : `${counted(wrong.length, "case")} failed`} · ${counted(results.length, "case")}\n`);
    }
    return wrong.length === 0 ? exitCodes.ok : exitCodes.failed;
  }, { interactive: false });
}

export interface ExplainPolicyOptions {
  readonly args: string | undefined;
  readonly lane?: string;
  readonly agent?: string;
  readonly taint?: readonly string[];
  /** What the tool answered: then it is asked whether the program may have that. */
  readonly result?: string;
}

/** `callgate policy explain TOOL [JSON]`, or RUN.NUMBER. 0 when it is allowed, 3 when it is not. */
export async function explainPolicyCommand(subject: string, { args, lane, agent, taint = [], result }: ExplainPolicyOptions, context: CommandContext): Promise<ExitCode> {
  const isRecorded = /\.\d+$/.test(subject);
  const given = isRecorded ? undefined : parseArguments(await argumentText(args));
  if (isRecorded && result !== undefined) throw new CallgateError("USAGE", "--result goes with a tool and arguments, not with a call on record");
  return await context.withGate(async (gate) => {
    const principal = agent === undefined ? gate.principal : { ...gate.principal, agent };
    if (result !== undefined) return await explainResult(gate, { tool: subject, args: given, result: parseResult(result), options: { principal, taint, ...(lane === undefined ? {} : { lane: laneOf(lane) }) } }, context);
    const found = isRecorded ? await gate.policy.explainCall(subject) : { tool: subject, principal, recorded: undefined, explanation: await gate.policy.explain(subject, given, { principal, taint, ...(lane === undefined ? {} : { lane: laneOf(lane) }) }) };
    const { explanation } = found;
    if (explanation === undefined && !isRecorded) throw unknownTool(gate, subject);
    const { terminal, options } = context;
    if (options.json === true) terminal.out(`${JSON.stringify({ ...found, ...(explanation === undefined ? {} : { explanation }) })}\n`);
    else terminal.out(renderExplanation(found, context, gate.policy));
    return explanation === undefined || explanation.decision.kind === "allow" ? exitCodes.ok : exitCodes.denied;
  }, { interactive: false });
}

interface AskedResult {
  readonly tool: string;
  readonly args: unknown;
  readonly result: unknown;
  readonly options: Parameters<GatePolicy["explainResult"]>[2];
}

async function explainResult(gate: Gate, { tool, args, result, options }: AskedResult, { terminal, options: { json } }: CommandContext): Promise<ExitCode> {
  const explained = await gate.policy.explainResult(tool, { args, result }, options);
  if (explained === undefined) throw unknownTool(gate, tool);
  const { decision, issues } = explained;
  const word = { allow: "handed on", ask: "asked about", deny: "withheld" }[decision.kind];
  if (json === true) terminal.out(`${JSON.stringify({ tool, ...explained })}\n`);
  else terminal.out(`the result of ${visible(tool)} is ${word} by ${visible(decision.ruleId)}${decision.kind === "allow" ? "" : `: ${visible(decision.reason)}`}\n${issues === undefined ? "" : `${misfitLine(issues)}\n`}`);
  return decision.kind === "allow" ? exitCodes.ok : exitCodes.denied;
}

function parseResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CallgateError("USAGE", "--result is no JSON");
  }
}

function unknownTool(gate: Gate, tool: string): CallgateError {
  return new CallgateError("USAGE", `There is no tool "${tool}"; nearest: ${gate.nearest(tool).join(", ") || "none"}`);
}

interface Explained {
  readonly tool: string;
  readonly principal: { readonly tenant: string; readonly user: string; readonly roles: readonly string[] };
  readonly recorded: { readonly decision: PolicyDecision["kind"]; readonly ruleId: string } | undefined;
  readonly explanation: CallExplanation | undefined;
}

function misfitLine(issues: readonly ParseIssue[]): string {
  return `these arguments do not fit the tool, so that a call with them ends before any rule is asked: ${visible(listIssues(issues))}`;
}

function renderExplanation({ tool, principal, recorded, explanation }: Explained, { terminal }: CommandContext, { mode }: Pick<GatePolicy, "mode">): string {
  const { bold, dim } = terminal.outColors;
  const who = `${principal.tenant}/${principal.user}${principal.roles.length === 0 ? "" : ` (${principal.roles.join(", ")})`}`;
  const lines = [bold(`${visible(tool)} for ${visible(who)}`)];
  if (recorded !== undefined) lines.push(`on record: ${decisionWord[recorded.decision]} by ${visible(recorded.ruleId)}`);
  if (explanation === undefined) lines.push("now: it cannot be said, for the tool is gone or the arguments are erased");
  else lines.push(...explanationLines(explanation));
  if (mode === "observe") lines.push(dim("the policy is not enforced (mode observe): the call is allowed all the same"));
  return `${lines.join("\n")}\n`;
}

function explanationLines({ decision, visible: isVisible, considered, help, issues }: CallExplanation): readonly string[] {
  const reason = decision.kind === "allow" ? "" : `: ${visible(decision.reason)}`;
  const from = decision.kind === "ask" && decision.from !== undefined ? ` (${visible(decision.from)} is meant to answer)` : "";
  const rules = considered.map(({ ruleId, place, verdict, matched, cedar }) => `\n${matched ? "matches" : "does not match"}: ${visible(ruleId)}${place === ruleId ? "" : ` at ${visible(place)}`}, ${verdict}\n${visible(cedar).split("\n").map((line) => `    ${line}`).join("\n")}`);
  return [
    `${decisionWord[decision.kind]} by ${visible(decision.ruleId)}${reason}${from}`,
    ...(issues === undefined ? [] : [misfitLine(issues)]),
    ...(isVisible ? [] : ["the tool does not exist for this caller: it is denied whatever the call"]),
    ...help.map((text) => `would help: ${visible(text)}`),
    ...(considered.length === 0 ? ["no rule is about it"] : rules),
  ];
}

const decisionWord: Readonly<Record<PolicyDecision["kind"], string>> = { allow: "allowed", ask: "asked about", deny: "denied" };

/** `callgate policy simulate`: what would have been decided otherwise. 1 when something would. */
export async function simulatePolicyCommand({ last = 50 }: { readonly last?: number }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const simulated = await gate.policy.simulate({ runs: last });
    const { runs, programs, calls, results, leftOut, changes } = simulated;
    const { terminal, options } = context;
    if (options.json === true) terminal.out(`${JSON.stringify(simulated)}\n`);
    else {
      const by = (decision: PolicyDecision["kind"], ruleId: string | undefined): string => (ruleId === undefined ? decision : `${decision} by ${visible(ruleId)}`);
      const rows = changes.map(({ user, before, after, ...change }) => [...(change.about === "program" ? [change.runId, "program", change.language] : [change.callId, change.about, visible(change.tool)]), visible(user), by(before.decision, before.ruleId), by(after.kind, after.ruleId)]);
      if (rows.length > 0) terminal.out(renderTable(["run or call", "of it", "tool or language", "user", "was", "would be"], rows, { columns: terminal.outColumns, colors: terminal.outColors }));
      const left = leftOut === 0 ? "" : ` · ${leftOut} left out: erased or not kept, or the tool is gone or has changed`;
      terminal.out(`${changes.length === 0 ? "no change" : `${counted(changes.length, "decision")} would be another`} · ${counted(programs, "program")}, ${counted(calls, "call")} and ${counted(results, "result")} of ${counted(runs, "run")}${left}\n`);
    }
    return changes.length === 0 ? exitCodes.ok : exitCodes.failed;
  }, { interactive: false });
}
