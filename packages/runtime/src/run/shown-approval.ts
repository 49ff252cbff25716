import { decodeValue } from "@callgate/contract";
import type { Journal, JournalEntry, Principal, Redactor, ShownApproval } from "@callgate/contract";
import { inputMarks, outputMarks } from "../broker/pointers.ts";
import { digestOf, digestOfWire } from "../lib/digest.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { approvedVersion } from "./approved-version.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { FoundQuestion } from "./find-question.ts";
import { originsOf } from "./lineage.ts";
import { pinnedInterfaces } from "./pinned-interfaces.ts";

export interface ShownApprovalSeams {
  readonly journal: Pick<Journal, "readRun">;
  readonly redactor: Redactor;
  readonly viewFor: (principal: Principal) => CatalogView;
}

/** The call a question is about. */
export function issuedCallOf({ question, entries }: Pick<FoundQuestion, "question" | "entries">): Extract<JournalEntry, { kind: "call-issued" }> | undefined {
  const issued = entries.find((entry) => entry.kind === "call-issued" && entry.callId === question.callId);
  return issued?.kind === "call-issued" ? issued : undefined;
}

/** How a question stands. */
export function stateOf({ question, run, said, entries }: FoundQuestion, nowMs: number): ShownApproval["state"] {
  if (said !== undefined) return "answered";
  // Of a run that has ended only its undoing goes on.
  if (run.endedAtMs !== undefined && issuedCallOf({ question, entries })?.compensates === undefined) return "ended";
  return question.expiresAtMs <= nowMs ? "expired" : "open";
}

/**
 * What a person has to see before they answer, made from the operation as it is on record and never from the summary that
 * went with the question: whoever changes one without the other is found out.
 */
export async function shownApproval(seams: ShownApprovalSeams, found: FoundQuestion, nowMs: number): Promise<ShownApproval> {
  const { redactor, viewFor } = seams;
  const { question, askedAtMs, run, said } = found;
  const state = stateOf(found, nowMs);
  const { kind: _kind, approvalId: _approvalId, ...answer } = said ?? { kind: undefined, approvalId: undefined };
  const head = { question, askedAtMs, ...(run.unreadable === undefined ? {} : { unreadable: run.unreadable }), state, ...(said === undefined ? {} : { answer: answer as NonNullable<ShownApproval["answer"]> }) };
  if (question.isReview === true) {
    const { programText: program, language } = run;
    const isIntact = program === undefined || digestOf({ language, program }) === question.definitionDigest;
    const previous = await approvedVersion(seams, question, program);
    return { ...head, isIntact, ...(program === undefined ? {} : { program: redactor.output(program) }), ...(previous === undefined ? {} : { previous }) };
  }
  const tool = viewFor(question.principal).pinnedTo(pinnedInterfaces(run, found.entries)).catalog.resolve(question.tool);
  const clear = issuedCallOf(found)?.args.clear;
  const described = tool === undefined ? {} : { description: tool.tool.description };
  if (question.isResult === true) return { ...head, ...(await shownResult(seams, found, tool)), ...described };
  const transformed = found.entries.findLast((entry) => entry.kind === "call-intercepted" && entry.args !== undefined && entry.seq === issuedCallOf(found)?.seq);
  // What the host's own stage made of the arguments is kept as its summary only.
  if (transformed?.kind === "call-intercepted") return { ...head, isIntact: transformed.args?.digest === question.argsDigest, ...described };
  if (clear === undefined) return { ...head, isIntact: true, ...described };
  const issued = decodeValue(clear);
  const value = tool === undefined ? issued : await performedArgs(tool, issued);
  // Only its tool knows what of them is sensitive.
  if (tool === undefined) return { ...head, isIntact: digestOfWire(clear) === question.argsDigest };
  const marks = inputMarks(tool);
  const origins = originsOf(run, found.entries, question.callId);
  return { ...head, isIntact: digestOfWire(clear) === question.argsDigest, args: redactor.whole(value, marks), ...(origins === undefined ? {} : { origins }), ...described };
}

/** Arguments as they are performed: carried over from an older version, and as the schema leaves them. As they are where they do not fit. */
async function performedArgs(tool: CatalogTool, issued: unknown): Promise<unknown> {
  const entered = enteredArgs(tool, issued);
  const parsed = await tool.validateInput(entered);
  return parsed.kind === "ok" ? parsed.value : entered;
}

/** The same before the schema. */
export function enteredArgs({ older }: CatalogTool, issued: unknown): unknown {
  const entered = older?.enter(issued);
  return entered?.kind === "ok" ? entered.value : issued;
}

/** The call and what it gave, from the record. */
async function shownResult({ redactor }: ShownApprovalSeams, found: FoundQuestion, tool: CatalogTool | undefined): Promise<Pick<ShownApproval, "isIntact" | "args" | "result">> {
  const issued = issuedCallOf(found);
  const held = found.entries.find((entry) => entry.kind === "result-held" && entry.seq === issued?.seq);
  const [args, result] = [issued?.args.clear, held?.kind === "result-held" ? held.result.clear : undefined];
  // Erased: what was asked about cannot be shown any more, and nothing says that it was changed.
  if (args === undefined || result === undefined) return { isIntact: true };
  const isIntact = digestOf([digestOfWire(args), digestOfWire(result)]) === found.question.argsDigest;
  if (tool === undefined) return { isIntact };
  return { isIntact, args: redactor.whole(await performedArgs(tool, decodeValue(args)), inputMarks(tool)), result: redactor.whole(decodeValue(result), outputMarks(tool)) };
}
