import { accessSync, constants } from "node:fs";
import { localPrincipal } from "@callgate/contract";
import type { Gate, Principal, RunResult } from "@callgate/contract";
import { makePrivateFolder } from "@callgate/runtime/journal";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { counted } from "../terminal.ts";
import { unreadableRuns } from "../unreadable-runs.ts";

interface Finding {
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly found: string;
  /** What to do, when not ok. */
  readonly fix?: string;
}

/** `callgate doctor`: each part is used for real. */
export async function doctorCommand(context: CommandContext): Promise<ExitCode> {
  const findings: Finding[] = [nodeVersion(), stateFolder(context.folders.state)];
  try {
    findings.push(...(await journalFindings(context)), await approvalFinding(context));
    await context.withGate(async (gate) => {
      findings.push(...(await gateFindings(gate, await keyFileOf(context))));
    }, { about: "told", eagerSources: true });
  } catch (fault) {
    findings.push({ check: "gate", state: "failed", found: fault instanceof Error ? fault.message : String(fault), fix: "mend what the message names, then run callgate doctor again" });
  }
  const { terminal } = context;
  if (context.options.json === true) terminal.out(`${JSON.stringify(findings)}\n`);
  else {
    const colors = terminal.outColors;
    const marks = { ok: colors.green("ok"), warning: colors.yellow("warning"), failed: colors.red("failed") };
    terminal.out(renderTable(["check", "", "found"], findings.map((finding) => [finding.check, marks[finding.state], firstLine(finding.found)]), { columns: terminal.outColumns, colors: terminal.outColors }));
    // The table is cut to the terminal; what went wrong is needed in full.
    for (const { check, state, found, fix } of findings) if (state !== "ok") terminal.out(`\n${check}: ${found}\n${fix === undefined ? "" : `  to do: ${fix}\n`}`);
  }
  return findings.some((finding) => finding.state === "failed") ? exitCodes.failed : exitCodes.ok;
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

function nodeVersion(): Finding {
  return { check: "node", state: "ok", found: process.version };
}

function stateFolder(folder: string): Finding {
  try {
    makePrivateFolder(folder);
    accessSync(folder, constants.W_OK);
    return { check: "state folder", state: "ok", found: folder };
  } catch {
    return { check: "state folder", state: "failed", found: `${folder} cannot be written`, fix: `make ${folder} writable, or set XDG_STATE_HOME to a folder that is` };
  }
}

/** Of a journal in PostgreSQL, before anything is made there: a gate that cannot open it says less. */
async function journalFindings({ configuration }: CommandContext): Promise<readonly Finding[]> {
  const { config, folder } = await configuration();
  if (config.journal?.postgres === undefined) return [];
  const { inspectJournal } = await import("../../open-journal.ts");
  const findings = await inspectJournal(config.journal, { folder, env: process.env });
  return findings.map(({ check, isOk, found, fix }) => ({ check: `journal ${check}`, state: isOk ? "ok" : "failed", found, ...(fix === undefined ? {} : { fix }) }));
}

/** Without a key, whoever can start callgate as this user can answer: an agent with a shell among them. */
async function approvalFinding({ configuration, folders }: CommandContext): Promise<Finding> {
  const { approvalRules, isAnsweredByWebhook } = await import("../../approver/approval-rules.ts");
  const { config } = await configuration();
  const { keys = [], unsafeSelfApproval } = approvalRules(config.approvals, folders.state);
  if (unsafeSelfApproval === true) return { check: "approvals", state: "warning", found: "who asks may answer (unsafeSelfApproval)", fix: "leave approvals.unsafeSelfApproval out of the configuration" };
  const proofs = [...keys.map(({ by }) => by), ...(isAnsweredByWebhook(config.approvals) ? ["the webhook"] : [])];
  if (proofs.length > 0) return { check: "approvals", state: "ok", found: `answers count with the signature of ${proofs.join(", ")}` };
  return { check: "approvals", state: "warning", found: "advisory: no key is set, so whoever can start callgate as this user can answer", fix: "make one with callgate approver init (docs/guide/approvals.md)" };
}

/** Whose programs doctor runs: of a tenant of its own, so that they are not among anybody's runs. */
const probe: Principal = { ...localPrincipal, tenant: "callgate-doctor" };

async function gateFindings(gate: Gate, keyFile: string): Promise<readonly Finding[]> {
  const ran = await gate.run("return [1, 2, 3].map((n) => n * 2)", { principal: probe });
  return [await checker(gate), sandbox(ran), await clock(gate), await journal(gate, ran), ...(await journalKey(gate, keyFile)), ...policy(gate), ...sources(gate)];
}

function policy({ policy: inspected }: Gate): readonly Finding[] {
  const count = inspected.rules().length;
  const state: Finding = inspected.mode === "observe" ? { check: "policy", state: "warning", found: "not enforced (mode observe): every call is allowed", fix: 'set policy.mode to "enforce", or leave it out' } : { check: "policy", state: "ok", found: count === 0 ? "no rules: reads are allowed, everything else asks" : counted(count, "rule") };
  return [state, ...inspected.findings().map(({ ruleId, message, severity }): Finding => ({ check: `policy ${ruleId}`, state: severity === "error" ? "failed" : "warning", found: message, fix: "mend the rule; callgate policy check shows its place" }))];
}

async function checker(gate: Gate): Promise<Finding> {
  const result = await gate.check("const n: number = 'text'; return n");
  return result.status === "rejected"
    ? { check: "check", state: "ok", found: "a wrong program is rejected" }
    : { check: "check", state: "failed", found: `a wrong program was ${result.status}`, fix: "reinstall callgate; if it stays, report it with the output of callgate doctor --json" };
}

function sandbox(result: RunResult): Finding {
  const right = result.status === "completed" && result.value?.kind === "whole" && JSON.stringify(result.value.value) === "[2,4,6]";
  return right
    ? { check: "sandbox", state: "ok", found: `a program runs in ${Math.max(1, Math.round(result.durationMs))} ms` }
    : { check: "sandbox", state: "failed", found: `a program ended ${result.status}: ${result.error?.message ?? "wrong value"}`, fix: "reinstall callgate; if it stays, report it with the output of callgate doctor --json" };
}

async function clock(gate: Gate): Promise<Finding> {
  const result = await gate.run("while (true) {}", { principal: probe, limits: { cpuMs: 200 } });
  return result.status === "limit"
    ? { check: "limits", state: "ok", found: "an endless loop is ended" }
    : { check: "limits", state: "failed", found: `an endless loop ended ${result.status}`, fix: "report it with the output of callgate doctor --json" };
}

async function journal(gate: Gate, { runId }: RunResult): Promise<Finding> {
  return (await gate.runs.show(runId, { principal: probe })) === undefined
    ? { check: "journal", state: "failed", found: "the run above was not recorded", fix: "see the notes above; free disk space or choose another place with journal.path" }
    : { check: "journal", state: "ok", found: "runs are recorded" };
}

/** Where this process has its master key from. */
async function keyFileOf({ configuration, folders }: CommandContext): Promise<string> {
  const { config, folder } = await configuration();
  const { keyFileAt } = await import("../../open-journal.ts");
  return keyFileAt(config.journal ?? {}, { folder, stateFolder: folders.state });
}

/** Runs that another key file is needed for: they wait for ever where nobody says so. */
async function journalKey(gate: Gate, keyFile: string): Promise<readonly Finding[]> {
  const runs = await unreadableRuns(gate);
  if (runs.length === 0) return [];
  const open = runs.filter(({ endedAtMs }) => endedAtMs === undefined);
  const names = (open.length > 0 ? open : runs).slice(0, 5).map(({ runId }) => runId).join(", ");
  const rest = open.length === 0 ? "" : `, of which ${open.length} ${open.length === 1 ? "has" : "have"} not ended and cannot go on here`;
  return [{
    check: "journal key",
    state: "warning",
    found: `${counted(runs.length, "run")} of this journal ${runs.length === 1 ? "is" : "are"} sealed under another key file${rest}: ${names}${(open.length > 0 ? open : runs).length > 5 ? " and more" : ""}`,
    fix: `all processes of a journal need the same key file. This one uses ${keyFile}: put a copy of the file of the machine where those runs began there, or name it with journal.keyFile. Runs that were begun with the file that is there now need that one: keep it until they have ended`,
  }];
}

function sources(gate: Gate): readonly Finding[] {
  const namespaces = gate.namespaces();
  const problemOf = (namespace: string) => gate.problems.find((problem) => problem.startsWith(`${namespace}: `))?.slice(namespace.length + 2);
  // What made a source fail is told once, with the source.
  const told = new Set(namespaces.filter(({ state }) => state.kind !== "ready").map(({ namespace }) => problemOf(namespace)));
  const findings = namespaces.map((view): Finding => {
    const check = `source ${view.namespace}`;
    if (view.circuit !== undefined) return { check, state: "warning", found: `failed several times in a row and is left alone, for ${view.circuit.retryAfterMs} ms more (circuitBreaker)` };
    if (view.state.kind === "ready") return { check, state: "ok", found: `${view.kind}, ${counted(view.toolCount, "tool")}` };
    // Degraded: its tools are there and can be called.
    const state = view.state.kind === "degraded" ? "warning" : "failed";
    return { check, state, found: problemOf(view.namespace) ?? ("reason" in view.state ? view.state.reason : view.state.kind), fix: `check the entry "${view.namespace}" in the configuration, or set "disabled": true there` };
  });
  const problems = gate.problems.filter((problem) => !told.has(problem.replace(/^[^:]*: /, "")) && !/^(?:The policy|Policy) /.test(problem)).map((found): Finding => ({ check: "catalog", state: "warning", found }));
  return namespaces.length + problems.length > 0 ? [...findings, ...problems] : [{ check: "sources", state: "warning", found: "none configured", fix: "callgate init writes an example; mcpServers in the configuration takes any MCP server" }];
}
