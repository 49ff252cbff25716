import type { ApprovalQuestion, ShownApproval } from "@callgate/contract";
import { reachText, visible } from "@callgate/runtime";

/** A dialogue is no place for more; the whole is in `callgate approvals show`. */
const maxShownChars = 4_000;

/**
 * A question as the person in front of a client reads it: made from the operation, never from what a model says about it.
 * What a model wrote comes last, behind bars, so that it cannot pass for ours.
 */
export function questionMessage(question: ApprovalQuestion, shown: ShownApproval | undefined): string {
  const { tool, effect, reason, ruleId, from, approvalId, runId, isReview, isResult, taint = [] } = question;
  const written = isResult === true ? (JSON.stringify(shown?.result === undefined ? question.argsSummary : { arguments: shown.args, result: shown.result }, undefined, 2) ?? "null") : isReview === true ? (shown?.program ?? JSON.stringify(question.argsSummary)) : (JSON.stringify(shown?.args ?? question.argsSummary, undefined, 2) ?? "null");
  const reach = isReview === true ? reachText(question.argsSummary) : undefined;
  const lines = [
    isResult === true ? `${tool} was called. The program asks for its result: approving hands it on, denying withholds it. What the call did stays done.` : isReview === true ? "A program asks to run." : `${tool} asks to run. It ${effectWords[effect]}.`,
    `Why you are asked: ${visible(reason)} (rule ${ruleId})${from === undefined ? "" : `; to be answered by ${visible(from)}`}`,
    ...taint.map(({ label, tool: source, runId: inRun }) => `After reading ${inRun === undefined ? "a resource or prompt of" : "from"} ${source}, whose answers are ${visible(label)}`),
    ...(reach === undefined ? [] : [`It can call ${reach}`]),
    ...(shown?.isIntact === false ? ["The record was changed since this was asked. Do not approve it."] : []),
    `Question ${approvalId} of run ${runId}`,
    isResult === true ? "The call, as the model wrote it, and its result, as the tool gave it:" : isReview === true ? "The program, as the model wrote it:" : "Arguments, as the model wrote them:",
    ...bars(written),
  ];
  return lines.join("\n");
}

const effectWords = { read: "reads data", write: "changes data", destructive: "DESTROYS data" } as const;

function bars(text: string): readonly string[] {
  const shown = text.slice(0, maxShownChars).split(/\r\n|\n|\r/).map((line) => `│ ${visible(line)}`);
  return text.length <= maxShownChars ? shown : [...shown, `│ … and ${text.length - maxShownChars} more characters: do not approve what you have not seen; callgate approvals show has all`];
}
