import type { AttemptReport } from "./attempt/run-attempt.ts";
import { performWork } from "./attempt/agent-subject.ts";
import type { FailureKind } from "./attempt/judge.ts";
import { emptySubject } from "./attempt/subject.ts";
import type { Subject } from "./attempt/subject.ts";
import { chosenCases, runSuite } from "./run-suite.ts";
import type { RunSuiteOptions } from "./run-suite.ts";
import type { EvalCase } from "./suite/eval-suite.ts";

/** What the checks of one case were seen to catch. */
export interface CaseProof {
  readonly id: string;
  /** The case is worth running: doing nothing fails, each work that must fail fails, and the world stays as it is when nobody acts. */
  readonly holds: boolean;
  /** Why nothing could be proven here: what this machine lacks. Then it does not hold, and has no problem. */
  readonly missing?: string;
  readonly problems: readonly string[];
  /** Works that must not pass, which were tried. */
  readonly tried: number;
  /** What caught them, and the empty subject. */
  readonly caughtBy: readonly FailureKind[];
}

export type ProveSuiteOptions = Omit<RunSuiteOptions, "subject" | "repeat" | "onCase">;

/**
 * Holds each case against subjects that must not pass it: one that does nothing, and those of its `mustFail`. What is
 * skipped is proven all the same.
 */
export async function proveSuite(options: ProveSuiteOptions): Promise<readonly CaseProof[]> {
  const cases = chosenCases(options).map(({ skip: _skip, ...one }): EvalCase => one);
  const tries = Math.max(0, ...cases.map(({ mustFail }) => mustFail.length));
  const { only: _only, tags: _tags, ...common } = options;
  const proven = async (subject: Subject, chosen: readonly EvalCase[]): Promise<ReadonlyMap<string, AttemptReport>> => {
    if (chosen.length === 0) return new Map();
    const { cases: reports } = await runSuite({ ...common, subject, suite: { ...options.suite, cases: chosen } });
    return new Map(reports.flatMap(({ id, attempts: [attempt] }) => (attempt === undefined ? [] : [[id, attempt] as const])));
  };
  const idle = await proven(emptySubject, cases);
  const wrong: ReadonlyMap<string, AttemptReport>[] = [];
  for (let index = 0; index < tries; index += 1) wrong.push(await proven(wrongSubject(index), cases.filter(({ mustFail }) => mustFail.length > index)));
  return cases.map((one) => proofOf(one, idle.get(one.id), wrong.flatMap((reports) => reports.get(one.id) ?? [])));
}

function wrongSubject(index: number): Subject {
  return {
    name: `mustFail ${index + 1}`,
    perform(task) {
      const work = task.case.mustFail[index];
      return work === undefined ? emptySubject.perform(task) : performWork(work, task);
    },
  };
}

function proofOf({ id }: EvalCase, idle: AttemptReport | undefined, wrong: readonly AttemptReport[]): CaseProof {
  if (idle?.status === "skipped") return { id, holds: false, missing: idle.reason ?? "this machine has no such environment", problems: [], tried: 0, caughtBy: [] };
  const problems = [
    ...(idle === undefined ? ["it was not tried"] : idleProblems(idle)),
    ...wrong.flatMap((attempt, index) => (attempt.status === "failed" ? [] : [attempt.status === "passed" ? `mustFail ${index + 1} passes: no check sees what is wrong with it` : `mustFail ${index + 1}: ${attempt.reason ?? attempt.status}`])),
  ];
  const caughtBy = [...new Set([idle, ...wrong].flatMap((attempt) => attempt?.failures.map(({ kind }) => kind) ?? []))];
  return { id, holds: problems.length === 0, problems, tried: wrong.length, caughtBy };
}

function idleProblems({ status, reason, beforeDigest, afterDigest }: AttemptReport): readonly string[] {
  if (status === "passed") return ["it passes when nothing is done"];
  if (status !== "failed") return [reason ?? status];
  return beforeDigest === afterDigest ? [] : ["the environment changes by itself: its state was another one after nothing was done"];
}
