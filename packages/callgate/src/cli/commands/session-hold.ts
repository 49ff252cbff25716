import { CallgateError } from "@callgate/contract";
import { approvalRules, isAnsweredByWebhook } from "../../approver/approval-rules.ts";
import { holdSession } from "../../session/hold-session.ts";
import { createBlockApprover, faultOf } from "../../session/session-holder.ts";
import type { HolderNews } from "../../session/session-messages.ts";
import { createSessionRecords } from "../../session/session-records.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { launcherOption } from "./run.ts";

/** `callgate session hold NAME`: what `session open` starts. It lives until the session has ended. */
export async function holdSessionCommand(sessionId: string, context: CommandContext): Promise<ExitCode> {
  const tell = (news: HolderNews): void => {
    if (process.send === undefined) return;
    process.send(news);
    process.disconnect();
  };
  const records = createSessionRecords(context.folders.state);
  try {
    const { config } = await context.configuration();
    const approver = createBlockApprover(isAnsweredByWebhook(config.approvals) || (approvalRules(config.approvals, context.folders.state).keys ?? []).length > 0);
    const record = records.read(sessionId);
    if (record === undefined || process.send === undefined) throw new CallgateError("USAGE", "session hold is started by callgate session open");
    await context.withGate(
      (gate) => holdSession({ gate, approver, records, record: { ...record, pid: process.pid }, signal: context.signal, onReady: (view) => tell({ kind: "ready", view }) }),
      { interactive: false, warm: true, approver, ...launcherOption(record.options.sandbox) },
    );
    return exitCodes.ok;
  } catch (fault) {
    tell({ kind: "fault", fault: faultOf(fault) });
    throw fault;
  }
}
