import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalAnswer, ApprovalQuestion } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { localPrincipal } from "../index.ts";
import { processTerminal } from "./terminal.ts";
import { createTtyApprover } from "./tty-approver.ts";

const question: ApprovalQuestion = {
  approvalId: "a1", principal: localPrincipal, runId: "r1", callId: "r1.0", tool: "t.pay", definitionDigest: "sha256:00", argsDigest: "sha256:00",
  argsSummary: { note: "\u001b[3A\u001b[2K✔ approved by owner" }, effect: "write", policyVersion: "1", ruleId: "default", reason: "writes ask", expiresAtMs: Date.now() + 60_000,
};

/** Asks with `before` already waiting in the input, and types `after` once the question is shown. */
async function ask(before: string, after: string, { word = 0, about = question }: { readonly word?: number; readonly about?: ApprovalQuestion } = {}): Promise<{ answer: ApprovalAnswer; shown: string }> {
  const input = new PassThrough();
  let shown = "";
  const terminal = { ...processTerminal(), err: (text: string) => { shown += text; } };
  if (before !== "") input.write(before);
  const approver = createTtyApprover({ terminal, input: input as unknown as NodeJS.ReadStream, user: "ann", now: Date.now, pick: () => word });
  const asking = approver.ask(about, AbortSignal.timeout(10_000));
  await sleep(50);
  input.write(after);
  return { answer: await asking, shown };
}

describe("createTtyApprover", () => {
  test("out-023: the word of this question allows the call, when typed after it is shown", async () => {
    expect((await ask("", "amber\n")).answer).toEqual({ kind: "approved", by: "ann" });
  });

  test.each(["y\n", "yes\n", "y\n".repeat(100), "\n", "birch\n"])("out-023: %j does not allow the call", async (typed) => {
    expect((await ask("", typed)).answer.kind).toBe("denied");
  });

  test("out-023: what was typed ahead is thrown away, even when it is the word", async () => {
    expect((await ask("amber\n", "no\n")).answer.kind).toBe("denied");
  });

  test("out-023: the word is drawn for each question", async () => {
    expect((await ask("", "amber\n", { word: 1 })).answer.kind).toBe("denied");
    expect((await ask("", "birch\n", { word: 1 })).answer.kind).toBe("approved");
  });

  test("a review shows rule, place and program with its lines, and what an answer is good for; the program cannot draw on it", async () => {
    const about: ApprovalQuestion = { ...question, tool: "program", isReview: true, ruleId: "PY_EVAL", reason: "PY_EVAL at 2:1: eval and exec run text", argsSummary: { language: "python", findings: [], program: "x = 1\neval('\u001b[2K✔ approved')" } };
    const { answer, shown } = await ask("", "amber\n", { about });
    expect(answer).toEqual({ kind: "approved", by: "ann" });
    for (const part of ["A program asks to run", "PY_EVAL at 2:1", "  1  x = 1", "  2  eval(", "this one run; calls that ask will ask as always"]) expect(shown).toContain(part);
    expect(shown).not.toContain("\u001b[2K");
    expect((await ask("eval\n", "yes\n", { about })).answer.kind).toBe("denied");
  });

  test("out-002: arguments cannot draw on the question", async () => {
    expect((await ask("", "no\n")).shown).not.toContain("\u001b[3A");
  });
});
