import type { PendingApproval } from "@callgate/contract";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { programText } from "../tty-approver.ts";
import { visible } from "../terminal.ts";

/** `callgate approvals ls` */
export async function listApprovalsCommand(context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const pending = await gate.approvals.list();
    const { terminal, options } = context;
    if (options.json === true) terminal.out(`${JSON.stringify(pending)}\n`);
    else if (pending.length === 0) terminal.err("No open questions\n");
    else terminal.out(pending.map((one) => render(one, context)).join("\n"));
    return exitCodes.ok;
  }, { about: [] });
}

function render({ question }: PendingApproval, { terminal }: CommandContext): string {
  const { bold, dim } = terminal.outColors;
  const isReview = question.isReview === true;
  const args = isReview ? [programText(question.argsSummary)] : visible(JSON.stringify(question.argsSummary, undefined, 2)).split("\n").map((line) => `    ${line}`);
  return [
    `${bold(question.approvalId)} ${isReview ? "review of a program" : `${question.tool} (${question.effect})`} for ${visible(question.principal.user)}, run ${question.runId}`,
    dim(`  why asked  ${visible(question.reason)} (rule ${question.ruleId})${question.from === undefined ? "" : `, to be answered by ${visible(question.from)}`}; until ${new Date(question.expiresAtMs).toISOString()}`),
    ...args,
    "",
  ].join("\n");
}

/** `callgate approvals approve|deny APPROVAL` */
export async function answerApprovalCommand(approvalId: string, { approved, reason }: { readonly approved: boolean; readonly reason?: string }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const answer = await gate.approvals.answer(approvalId, { approved, by: context.options.user ?? process.env["USER"] ?? "terminal", ...(reason === undefined ? {} : { reason }) });
    const { terminal, options } = context;
    const word = answer.approved ? "approved" : "denied";
    if (options.json === true) terminal.out(`${JSON.stringify({ approvalId, ...answer })}\n`);
    else terminal.out(answer.known ? `${approvalId} was ${word} before; that counts\n` : `${word} ${approvalId}\n`);
    return answer.approved === approved ? exitCodes.ok : exitCodes.failed;
  }, { about: [] });
}
