import type { ApprovalQuestion, ShownApproval } from "@callgate/contract";
import { approvedVersionText, reachText } from "@callgate/runtime";
import { visible } from "@callgate/runtime/text";

/** A dialogue is no place for more; the whole is in `callgate approvals show`. */
const maxShownChars = 4_000;

/**
 * A question as the person in front of a client reads it: made from the operation, never from what a model says about it.
 * What a model wrote comes last, behind bars, so that it cannot pass for ours.
 */
export function questionMessage(question: ApprovalQuestion, shown: ShownApproval | undefined): string {
  const { reason, ruleId, from, approvalId, runId, isReview, argsSummary, taint = [] } = question;
  const { headline, title, written } = subjectOf(question, shown);
  const reach = isReview === true ? reachText(argsSummary) : undefined;
  const lines = [
    headline,
    `Why you are asked: ${visible(reason)} (rule ${ruleId})${from === undefined ? "" : `; to be answered by ${visible(from)}`}`,
    ...taint.map(({ label, tool: source, runId: inRun }) => `After reading ${inRun === undefined ? "a resource or prompt of" : "from"} ${source}, whose answers are ${visible(label)}`),
    ...(reach === undefined ? [] : [`It can call ${reach}`]),
    ...(isReview === true ? [`Before: ${approvedVersionText(question, shown?.previous)}`, ...bars(shown?.previous?.diff?.text.trimEnd() ?? "")] : []),
    ...(shown?.isIntact === false ? ["The record was changed since this was asked. Do not approve it."] : []),
    `Question ${approvalId} of run ${runId}`,
    title,
    ...bars(written),
  ];
  return lines.join("\n");
}

/** What is asked about: in a sentence of ours, and as it was written. */
interface Subject {
  readonly headline: string;
  /** Stands above `written`. */
  readonly title: string;
  readonly written: string;
}

function subjectOf({ tool, effect, argsSummary, isReview, isResult, undoes, runId }: ApprovalQuestion, shown: ShownApproval | undefined): Subject {
  if (isResult === true) {
    return {
      headline: `${tool} was called. The program asks for its result: approving hands it on, denying withholds it. What the call did stays done.`,
      title: "The call, as the model wrote it, and its result, as the tool gave it:",
      written: jsonText(shown?.result === undefined ? argsSummary : { arguments: shown.args, result: shown.result }),
    };
  }
  if (isReview === true) return { headline: "A program asks to run.", title: "The program, as the model wrote it:", written: shown?.program ?? JSON.stringify(argsSummary) };
  if (undoes !== undefined) {
    return {
      headline: `Undoing ${tool} (call ${runId}.${undoes}) asks to run: what that call did is taken back, it is not called again.`,
      title: "Arguments of the call that is undone, as the model wrote them:",
      written: jsonText(shown?.args ?? argsSummary),
    };
  }
  return { headline: `${tool} asks to run. It ${effectWords[effect]}.`, title: "Arguments, as the model wrote them:", written: jsonText(shown?.args ?? argsSummary) };
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? "null";
}

const effectWords = { read: "reads data", write: "changes data", destructive: "DESTROYS data" } as const;

function bars(text: string): readonly string[] {
  if (text === "") return [];
  const shown = text.slice(0, maxShownChars).split(/\r\n|\n|\r/).map((line) => `│ ${visible(line)}`);
  return text.length <= maxShownChars ? shown : [...shown, `│ … and ${text.length - maxShownChars} more characters: do not approve what you have not seen; callgate approvals show has all`];
}
