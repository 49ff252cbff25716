import type { CallError, Digest, JournalEntry, RunFinish, RunRecord, RunStart, RunStatus, RunTokens, RunUnreadable, RunWait } from "@callgate/contract";
import { jsonColumn, optionalNumber, optionalText, textColumn, wordColumn } from "./columns.ts";
import type { Row } from "./columns.ts";
import { eraseError } from "./entry-codec.ts";
import { finishShape, headShape, waitsShape } from "./stored-shapes.ts";

// A run as rows of the table `runs` hold it, in every database.

const runKinds = ["program", "call", "replay", "rehearsal", "agent"] as const satisfies readonly RunStart["kind"][];
const lanes = ["query", "execute"] as const satisfies readonly RunStart["lane"][];
const runStatuses = ["running", "suspended", "completed", "rejected", "failed", "limit", "crashed", "cancelled", "diverged"] as const satisfies readonly RunStatus[];

/** Places of the sealed texts that belong to the run and not to one entry. */
export const programPlace = (runId: string): string => `${runId}\nprogram`;
export const errorPlace = (runId: string): string => `${runId}\nerror`;

/** The texts of a run that are sealed, as far as they can be read. */
export interface RunTexts {
  readonly programText?: unknown;
  readonly error?: unknown;
  readonly waits?: unknown;
}

/** What the column `head` holds. */
type RunHead = Pick<RunStart, "language" | "seed" | "limits" | "driver" | "interfaces" | "policyVersion" | "taskId" | "budgetTokens" | "onFailure" | "conversation" | "questions" | "planId" | "trace" | "session" | "edits" | "clockMs" | "capabilities" | "parent"> & Pick<RunStart["principal"], "roles" | "claims">;

export function headOf(run: RunStart): string {
  const { language, seed, limits, driver, interfaces, policyVersion, taskId, budgetTokens, onFailure, conversation, questions, planId, trace, session, edits, clockMs, capabilities, parent, principal } = run;
  const { roles, claims } = principal;
  return JSON.stringify({ roles, claims, language, seed, limits, driver, interfaces, policyVersion, taskId, budgetTokens, onFailure, conversation, questions, planId, trace, session, edits, clockMs, capabilities, parent });
}

/** What the column `finish` holds; the error without what somebody wrote into it. */
export function finishOf({ tokens, error }: RunFinish): string {
  return JSON.stringify({ tokens, ...(error === undefined ? {} : { error: eraseError(error) }) });
}

/** The number by which an entry is looked up: a call's issue order, or a result's number. */
export function indexedNumber(entry: JournalEntry): number | null {
  if ("seq" in entry) return entry.seq;
  return entry.kind === "result" ? entry.number : null;
}

export interface RecordParts {
  /** Owners that can no longer drive their runs. */
  readonly dead: readonly string[];
  readonly texts: RunTexts;
  /** What became of its key. */
  readonly key: "box" | "lost" | "erased";
}

export function recordOf(row: Row, { dead, texts, key }: RecordParts): RunRecord {
  return {
    ...startOf(row, texts.programText),
    ...unreadableOf(key),
    ...endOf(row, dead, texts.error),
    callCount: Number(row["calls"]),
    epoch: Number(row["epoch"]),
    waits: waitsOf(row, texts.waits),
    wakeAtMs: optionalNumber(row, "wake_at_ms"),
  };
}

function unreadableOf(key: RecordParts["key"]): { readonly unreadable?: RunUnreadable } {
  switch (key) {
    case "box":
      return {};
    case "lost":
      return { unreadable: "other_key" };
    case "erased":
      return { unreadable: "erased" };
  }
}

function startOf(row: Row, programText: unknown): RunStart {
  const { roles, claims, language, seed, limits, driver, interfaces, policyVersion, ...rest } = jsonColumn<RunHead>(row, "head", headShape);
  const [agent, task, replayOf] = [optionalText(row, "agent"), optionalText(row, "task"), optionalText(row, "replay_of")];
  return {
    runId: textColumn(row, "run_id"),
    kind: wordColumn(row, "kind", runKinds),
    principal: { tenant: textColumn(row, "tenant"), user: textColumn(row, "user_id"), ...(agent === undefined ? {} : { agent }), ...(task === undefined ? {} : { task }), roles, claims },
    startedAtMs: Number(row["started_at_ms"]),
    lane: wordColumn(row, "lane", lanes),
    language,
    programText: typeof programText === "string" ? programText : undefined,
    programDigest: optionalText(row, "program_digest") as Digest | undefined,
    seed,
    limits,
    driver,
    interfaces,
    policyVersion,
    ...rest,
    ...(replayOf === undefined ? {} : { replayOf }),
  };
}

/** How the run stands. A run whose owner died is crashed, whatever its row says: nobody was left to write it. */
function endOf(row: Row, dead: readonly string[], sealedError: unknown): Pick<RunRecord, "status" | "isLost" | "endedAtMs" | "error" | "tokens" | "resultNumber"> {
  const resultNumber = optionalNumber(row, "result_number");
  const status = wordColumn(row, "status", runStatuses);
  const owner = optionalText(row, "owner");
  if (status === "running" && owner !== undefined && dead.includes(owner)) {
    const endedAtMs = optionalNumber(row, "last_at_ms") ?? Number(row["started_at_ms"]);
    const isOpen = row["kind"] === "program"; // Nobody goes on with anything else.
    return { status: "crashed", ...(isOpen ? { isLost: true } : {}), endedAtMs, error: isOpen ? lost(textColumn(row, "run_id")) : interrupted, tokens: undefined, resultNumber };
  }
  const finish = row["finish"] === null ? undefined : jsonColumn<{ readonly tokens?: RunTokens; readonly error?: CallError }>(row, "finish", finishShape);
  return { status, endedAtMs: optionalNumber(row, "ended_at_ms"), error: (sealedError as CallError | undefined) ?? finish?.error, tokens: finish?.tokens, resultNumber };
}

function waitsOf(row: Row, sealed: unknown): readonly RunWait[] {
  if (row["waits"] === null) return [];
  return (sealed as readonly RunWait[] | undefined) ?? jsonColumn<readonly RunWait[]>(row, "waits", waitsShape);
}

function lost(runId: string): CallError {
  return {
    ...interrupted,
    message: `The process that ran the program was lost. The run has not ended: any worker takes it over, and so does callgate runs resume ${runId}; callgate runs cancel ${runId} ends it. Calls with a recorded end stand as recorded; a write that was issued and has no recorded end may or may not have happened`,
    retryable: true,
  };
}

const interrupted: CallError = {
  code: "RUN_INTERRUPTED",
  message: "The process that ran the program ended before the run did. Calls with a recorded end stand as recorded; a write that was issued and has no recorded end may or may not have happened",
  tool: "",
  retryable: false,
};

/** What the column `finish` holds of a run that nobody was left to end. */
export const interruptedFinish = JSON.stringify({ error: interrupted });
