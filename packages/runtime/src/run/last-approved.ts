import type { Journal, JsonValue, Principal, ProgramLanguage } from "@callgate/contract";

/** A program as its versions are looked for. */
export interface LookedForProgram {
  readonly journal: Pick<Journal, "listRuns" | "readEntries">;
  readonly principal: Principal;
  readonly runId: string;
  readonly language: ProgramLanguage;
  readonly program: string;
}

/** An earlier run of a program that a person let run after looking at it. */
export interface ApprovedProgram {
  readonly runId: string;
  readonly by: string;
  readonly startedAtMs: number;
}

/** Runs of the tenant that are looked through, and those of them whose entries are read. */
const maxRuns = 200;
const maxRead = 20;

/** Of a program, what is compared. */
const comparedChars = 20_000;

/** Programs that share this part of their words are versions of one another. */
const sharedPart = 0.7;

/**
 * The last program of this user, among the last 200 runs of the tenant, that is a version of this one and was approved by a
 * person before it ran. Programs have no names: a version is what shares most of its words. Undefined: there is none, or the
 * journal cannot be read.
 */
export async function lastApproved({ journal, principal, runId, language, program }: LookedForProgram): Promise<ApprovedProgram | undefined> {
  try {
    const words = wordsOf(program);
    const runs = await journal.listRuns({ tenant: principal.tenant, limit: maxRuns });
    const versions = runs.filter((run) => run.runId !== runId && run.kind === "program" && run.principal.user === principal.user && run.language === language && run.programText !== undefined && likeness(words, wordsOf(run.programText)) >= sharedPart);
    for (const run of versions.slice(0, maxRead)) {
      const checked = (await journal.readEntries(principal.tenant, run.runId)).find((entry) => entry.kind === "checked");
      if (checked?.kind === "checked" && checked.review?.approved === true) return { runId: run.runId, by: checked.review.by, startedAtMs: run.startedAtMs };
    }
    return undefined;
  } catch {
    return undefined;
  }
}

/** From the summary of a question, as `lastApproved` gave it. Undefined: it names none. */
export function approvedIn(summary: JsonValue): ApprovedProgram | undefined {
  const previous = typeof summary === "object" && summary !== null && "previous" in summary ? summary["previous"] : undefined;
  if (typeof previous !== "object" || previous === null || Array.isArray(previous)) return undefined;
  const { runId, by, startedAtMs } = previous as Readonly<Record<string, JsonValue>>;
  return typeof runId === "string" && typeof by === "string" && typeof startedAtMs === "number" ? { runId, by, startedAtMs } : undefined;
}

function wordsOf(program: string): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  for (const [word] of program.slice(0, comparedChars).matchAll(/[\p{L}\p{N}_$]+/gu)) words.set(word, (words.get(word) ?? 0) + 1);
  return words;
}

/** From 0 to 1: twice what they share over what they have. */
function likeness(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  const size = (words: ReadonlyMap<string, number>): number => [...words.values()].reduce((sum, count) => sum + count, 0);
  const all = size(one) + size(other);
  const shared = [...one].reduce((sum, [word, count]) => sum + Math.min(count, other.get(word) ?? 0), 0);
  return all === 0 ? 0 : (2 * shared) / all;
}
