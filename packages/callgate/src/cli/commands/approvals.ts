import { CallgateError } from "@callgate/contract";
import type { AnswerSigner, Gate, GrantWithAnswer, PendingApproval, ShownApproval } from "@callgate/contract";
import { answererOf, proveApprover } from "../approver-credential.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { editedArguments } from "../edited-arguments.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { pageOut } from "../page-out.ts";
import { renderQuestion } from "../render-question.ts";
import { visible } from "../terminal.ts";
import { argumentText } from "./call.ts";
import { expiryIn, grantTests, tellGrant } from "./grants.ts";

/** `callgate approvals ls` */
export async function listApprovalsCommand(options: { readonly run?: string }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const pending = await gate.approvals.list(options.run === undefined ? {} : { runId: options.run });
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(pending)}\n`);
    else if (pending.length === 0) terminal.err("No open questions\n");
    else terminal.out(`${pending.map(({ question, unreadable }) => renderQuestion({ question, unreadable }, { colors: terminal.outColors })).join("\n")}`);
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate approvals show APPROVAL`: its source has to be here, for it says which arguments are not to be shown. */
export async function showApprovalCommand(approvalId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const shown = await shownOrFail(gate, approvalId);
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify(shown)}\n`);
    else if (process.stdout.isTTY) await pageOut(textOf(shown, terminal.colors), terminal, context.signal);
    else terminal.out(`${textOf(shown, terminal.outColors)}\n`);
    return exitCodes.ok;
  });
}

function textOf(shown: ShownApproval, colors: CommandContext["terminal"]["colors"]): string {
  const { state, answer } = shown;
  const said = answer === undefined ? "" : `: ${answer.approved ? "approved" : "denied"} by ${visible(answer.by)}${answer.reason === undefined ? "" : `, ${visible(answer.reason)}`}${answer.args === undefined ? "" : `, with ${visible(JSON.stringify(answer.args.summary))}`}`;
  return `${renderQuestion({ question: shown.question, shown }, { colors })}  ${state}${said}`;
}

async function shownOrFail(gate: Gate, approvalId: string): Promise<ShownApproval> {
  const shown = await gate.approvals.show(approvalId);
  if (shown === undefined) throw new CallgateError("SIGNAL_REFUSED", `There is no question ${approvalId}; callgate approvals ls lists those that are open`, { details: { approvalId } });
  return shown;
}

export interface AnswerOptions {
  readonly approved: boolean;
  readonly reason?: string;
  readonly all?: boolean;
  readonly run?: string;
  /** So many more calls are let through without a question. */
  readonly grant?: number;
  readonly grantDays?: number;
  readonly grantArgs?: string;
  readonly grantAnyVersion?: boolean;
}

/** `callgate approvals approve|deny APPROVAL…`, or `--all --run RUN` */
export async function answerApprovalsCommand(approvalIds: readonly string[], options: AnswerOptions, context: CommandContext): Promise<ExitCode> {
  if ((options.all === true) === (approvalIds.length > 0)) throw new CallgateError("USAGE", "Name the questions, or all of a run: --all --run RUN");
  if (options.all === true && options.run === undefined) throw new CallgateError("USAGE", "--all needs --run RUN: what other runs ask is not answered along with it");
  const { reason } = options;
  const grant = await grantOf(options, approvalIds.length);
  return await context.withGate(async (gate) => {
    const asked = options.all === true ? (await gate.approvals.list({ runId: options.run ?? "" })).map(({ question }: PendingApproval) => question.approvalId) : approvalIds;
    if (asked.length === 0) {
      context.terminal.err("No open questions\n");
      return exitCodes.ok;
    }
    const signer = await confirm(gate, asked, context);
    const answered = [];
    for (const approvalId of asked) answered.push(await give(gate, { approvalId, approved: options.approved, signer, ...(reason === undefined ? {} : { reason }), ...(grant === undefined ? {} : { grant }) }, context));
    return tell(answered, options.approved, context);
  });
}

async function grantOf({ grant, grantDays, grantArgs, grantAnyVersion }: AnswerOptions, count: number): Promise<GrantWithAnswer | undefined> {
  if (grant === undefined) {
    if (grantDays !== undefined || grantArgs !== undefined || grantAnyVersion === true) throw new CallgateError("USAGE", "Say how many more calls are granted: --grant USES");
    return undefined;
  }
  if (count !== 1) throw new CallgateError("USAGE", "A grant goes with the answer to one question: name it alone");
  return { maxUses: grant, expiresAtMs: expiryIn(grantDays), ...(grantArgs === undefined ? {} : { args: grantTests(await argumentText(grantArgs)) }), ...(grantAnyVersion === undefined ? {} : { anyVersion: grantAnyVersion }) };
}

/** `callgate approvals edit APPROVAL [JSON]` */
export async function editApprovalCommand(approvalId: string, options: { readonly args?: string; readonly reason?: string }, context: CommandContext): Promise<ExitCode> {
  // The arguments are checked against the tool, so its source has to be here.
  return await context.withGate(async (gate) => {
    const shown = await shownOrFail(gate, approvalId);
    const args = await editedArguments(shown, options.args);
    context.terminal.err(`${renderQuestion({ question: shown.question, shown: { ...shown, args } }, context.terminal)}\n`);
    const signer = await proveApprover(context, "Editing a question");
    return tell([await give(gate, { approvalId, approved: true, args, signer, ...(options.reason === undefined ? {} : { reason: options.reason }) }, context)], true, context);
  });
}

/** Shows everything that is about to be answered, then has the person prove that they may. */
async function confirm(gate: Gate, approvalIds: readonly string[], context: CommandContext): Promise<AnswerSigner | undefined> {
  const all = await Promise.all(approvalIds.map((approvalId) => shownOrFail(gate, approvalId)));
  if (context.options.json !== true) await pageOut(all.map((shown) => textOf(shown, context.terminal.colors)).join("\n\n"), context.terminal, context.signal);
  return await proveApprover(context, "Answering questions");
}

interface Giving {
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason?: string;
  readonly args?: unknown;
  readonly grant?: GrantWithAnswer;
  readonly signer: AnswerSigner | undefined;
}

type Given = Awaited<ReturnType<Gate["approvals"]["answer"]>> & { readonly approvalId: string };

async function give(gate: Gate, { approvalId, approved, reason, args, grant, signer }: Giving, context: CommandContext): Promise<Given> {
  return { approvalId, ...(await gate.approvals.answer(approvalId, { approved, ...answererOf(signer, context), ...(grant === undefined ? {} : { grant }), ...(args === undefined ? {} : { args }), ...(reason === undefined ? {} : { reason }) })) };
}

function tell(answered: readonly Given[], approved: boolean, context: CommandContext): ExitCode {
  const { terminal, options } = context;
  if (options.json === true) terminal.out(`${JSON.stringify(answered.length === 1 ? answered[0] : answered)}\n`);
  for (const { approvalId, known, approved: counts, grant } of options.json === true ? [] : answered) {
    const word = counts ? "approved" : "denied";
    terminal.out(known ? `${approvalId} was ${word} before; that counts\n` : `${word} ${approvalId}\n`);
    if (grant !== undefined) tellGrant(grant, context);
  }
  return answered.every((one) => one.approved === approved) ? exitCodes.ok : exitCodes.failed;
}
