import { localPrincipal } from "@callgate/contract";
import type { ApprovalQuestion, ApprovalRules, ApproverKey, Grant, Principal } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { digestOfWire } from "../lib/digest.ts";
import { signAnswer } from "./answer-digest.ts";
import { createAnswerJudge } from "./answer-judge.ts";
import { signGrant } from "./sign-grant.ts";
import { signWord } from "./word-digest.ts";
import type { CallWord, UnsignedWord } from "./word-digest.ts";

const asker: Principal = { ...localPrincipal, user: "ann", agent: "claude" };
const question: ApprovalQuestion = {
  approvalId: "apr_1", principal: asker, runId: "run_1", callId: "run_1.0", tool: "crm.pay", definitionDigest: "sha256:d1", argsDigest: "sha256:a1",
  argsSummary: {}, effect: "write", policyVersion: "rules:1", ruleId: "rules[0]", reason: "It asks", expiresAtMs: 1000,
};
const said = { kind: "approval", approvalId: "apr_1", approved: true, by: "bea", atMs: 1 } as const;

/** Signs with its name: what matters here is which key, and over what. */
const signerOf = (by: string, keyId = `key of ${by}`) => ({ by, sign: (digest: string) => ({ keyId, value: `${keyId} ${digest}` }) });
const keyOf = (by: string): ApproverKey => ({ by, keyId: `key of ${by}`, verify: (digest, { value }) => value === `key of ${by} ${digest}` });
const keys = [keyOf("bea"), keyOf("claude")];

describe("whose answer counts, without keys", () => {
  const judge = createAnswerJudge({});
  test("anybody's but who asked, unsigned", () => {
    expect([judge.needsSignature, judge.refusal(question, said)]).toEqual([false, undefined]);
  });
  test("to this question only", () => {
    expect(judge.refusal(question, { ...said, approvalId: "apr_2" })).toBe("it answers another question");
  });
  test("with the arguments it was given with only; erased ones are none", () => {
    const clear = { json: '{"amount":3}', tagged: false };
    const digest = digestOfWire(clear);
    expect(judge.refusal(question, { ...said, args: { digest, summary: {}, clear } })).toBeUndefined();
    expect(judge.refusal(question, { ...said, args: { digest, summary: {} } })).toBeUndefined();
    expect(judge.refusal(question, { ...said, args: { digest, summary: {}, clear: { json: '{"amount":300}', tagged: false } } })).toBe("its arguments are not those it was given with");
  });
});

describe("nobody answers their own question", () => {
  const why = (rules: ApprovalRules, principal: Principal, by: string) => createAnswerJudge(rules).selfRefusal({ principal }, by);
  const refused = (who: string) => `${who} asked for it, and nobody answers their own question`;
  test.each(["claude", "Claude", " claude ", "CLAUDE\n", "\uff43laude"])("the agent acts, so %j is who asked; its user may answer", (by) => {
    expect([why({}, asker, by), why({}, asker, "ann"), why({}, asker, "claude2")]).toEqual([refused("claude"), undefined, undefined]);
  });
  test("where no agent acts the user is who asked", () => {
    expect([why({}, localPrincipal, "local"), why({}, localPrincipal, "ann")]).toEqual([refused("local"), undefined]);
  });
  test("with four eyes neither the agent nor its user may", () => {
    expect(["claude", "ann", "bea"].map((by) => why({ fourEyes: true }, asker, by))).toEqual([refused("claude"), refused("ann"), undefined]);
  });
  test("unless that is switched off by name", () => {
    expect(why({ unsafeSelfApproval: true, fourEyes: true }, asker, "claude")).toBeUndefined();
  });
  test("an answer is refused for it too, signed or not", () => {
    expect(createAnswerJudge({}).refusal(question, { ...said, by: "claude" })).toBe(refused("claude"));
    expect(createAnswerJudge({ keys }).refusal(question, signAnswer(question, { approved: true, atMs: 1 }, signerOf("claude")))).toBe(refused("claude"));
  });
});

describe("whose answer counts, once there is a key", () => {
  const judge = createAnswerJudge({ keys });
  const signed = signAnswer(question, { approved: false, atMs: 1, reason: "No" }, signerOf("bea"));

  test("who signed it, for what they said, to this question", () => {
    expect([judge.needsSignature, judge.refusal(question, signed)]).toEqual([true, undefined]);
  });
  test("nobody's without a signature", () => {
    expect(judge.refusal(question, said)).toBe("it is not signed, and this gate takes signed answers only");
  });
  test("nobody's with a key that is not known", () => {
    expect(judge.refusal(question, signAnswer(question, { approved: true, atMs: 1 }, signerOf("cy")))).toBe("it is signed with a key that this gate does not know");
  });
  test("not in the name of somebody else", () => {
    expect(judge.refusal(question, signAnswer(question, { approved: true, atMs: 1 }, signerOf("dan", "key of bea")))).toBe("it is signed with the key of bea");
  });
  test.each([{ approved: true }, { reason: "Yes" }, { atMs: 2 }, { args: { digest: "sha256:a2" as const, summary: {} } }])("not when %j was put in its place", (change) => {
    expect(judge.refusal(question, { ...signed, ...change })).toBe("its signature is not valid for what it says");
  });
  test.each([{ runId: "run_2" }, { argsDigest: "sha256:a2" as const }, { definitionDigest: "sha256:d2" as const }, { policyVersion: "rules:2" }, { expiresAtMs: 2000 }])("not for another operation: %j", (change) => {
    expect(judge.refusal({ ...question, ...change }, signed)).toBe("its signature is not valid for what it says");
  });
});

describe("whose grant counts", () => {
  const scope = { grantId: "grt_1", tenant: "local", tool: "crm.pay", args: { kind: "tests" as const, tests: {} }, user: "ann", maxUses: 3, expiresAtMs: 1000, givenAtMs: 0 };
  const grant: Grant = { ...scope, by: "bea" };
  test("anybody's without keys; with keys who signed all of it", () => {
    const judge = createAnswerJudge({ keys });
    const given = signGrant(scope, signerOf("bea"));
    expect([createAnswerJudge({}).grantRefusal(grant), judge.grantRefusal(given)]).toEqual([undefined, undefined]);
    expect(judge.grantRefusal(grant)).toBe("it is not signed, and this gate takes signed answers only");
    expect(judge.grantRefusal({ ...given, maxUses: 30 })).toBe("its signature is not valid for what it says");
    expect(judge.grantRefusal({ ...given, by: "claude" })).toBe("it is signed with the key of bea");
  });
});

describe("whose word on a call counts", () => {
  const value = { digest: digestOfWire({ json: "1", tagged: false }), summary: 1, clear: { json: "1", tagged: false } };
  const other = { ...value, clear: { json: "2", tagged: false } };
  const job = (result: Extract<UnsignedWord, { kind: "job" }>["result"]): UnsignedWord => ({ kind: "job", callId: "run_1.0", result, atMs: 1 });
  const failed = (code: string): UnsignedWord => job({ kind: "error", error: { code, message: "no", tool: "crm.pay", retryable: false } });
  const resolved = (more: object = {}): UnsignedWord => ({ kind: "resolution", callId: "run_1.0", attempt: 0, happened: true, atMs: 1, ...more });
  const bare = (word: UnsignedWord): CallWord => ({ ...word, by: "bea" });
  const [free, strict] = [createAnswerJudge({}), createAnswerJudge({ keys })];
  const unsigned = "it is not signed, and this gate takes signed answers only";
  const changed = "its value is not the one it was said with";

  test("anybody's without keys, with keys whose signature is over it", () => {
    for (const word of [job({ kind: "value", value }), failed("DOWN"), resolved(), resolved({ output: value })]) {
      expect([free.wordRefusal(bare(word)), strict.wordRefusal(bare(word)), strict.wordRefusal(signWord(word, signerOf("bea")))]).toEqual([undefined, unsigned, undefined]);
    }
    const said = signWord(resolved(), signerOf("bea"));
    expect(strict.wordRefusal({ ...said, callId: "run_1.1" })).toBe("its signature is not valid for what it says");
    expect(strict.wordRefusal({ ...said, by: "claude" })).toBe("it is signed with the key of bea");
  });

  test("not with another value than it was said with; an erased one is none", () => {
    for (const word of [job({ kind: "value", value: other }), resolved({ output: other })]) expect([free.wordRefusal(bare(word)), strict.wordRefusal(signWord(word, signerOf("bea")))]).toEqual([changed, changed]);
    const { clear: _clear, ...erased } = value;
    expect(free.wordRefusal(bare(job({ kind: "value", value: erased })))).toBeUndefined();
  });

  test("that a job is cancelled needs no signature; nothing else that calls itself so is let through", () => {
    expect(strict.wordRefusal(bare(failed("CANCELLED")))).toBeUndefined();
    expect([strict.wordRefusal(bare(failed("CANCELED"))), strict.wordRefusal(bare(job({ kind: "value", value }))), strict.wordRefusal(bare(resolved({ happened: false })))]).toEqual([unsigned, unsigned, unsigned]);
  });
});

describe("whose answer counts, with a service that answers", () => {
  const service = { keyId: "webhook:1", verify: (digest: string, { value }: { readonly value: string }) => value === `webhook:1 ${digest}` };
  const answered = (by: string, keyId = "webhook:1") => signAnswer(question, { approved: true, atMs: 1 }, signerOf(by, keyId));

  test("whom it names, by its signature over the answer, never who asked, and nobody unsigned", () => {
    const judge = createAnswerJudge({ webhook: service });
    expect([judge.needsSignature, judge.refusal(question, answered("dora")), judge.refusal(question, said)]).toEqual([true, undefined, "it is not signed, and this gate takes signed answers only"]);
    expect(judge.refusal(question, answered("claude"))).toContain("nobody answers their own question");
    expect(judge.refusal(question, { ...answered("dora"), approved: false })).toBe("its signature is not valid for what it says");
    expect(judge.refusal(question, answered("dora", "webhook:2"))).toBe("it is signed with a key that this gate does not know");
  });

  test("beside it the keys of people count in their own name", () => {
    const both = createAnswerJudge({ webhook: service, keys });
    expect([both.refusal(question, answered("bea", "key of bea")), both.refusal(question, answered("dora"))]).toEqual([undefined, undefined]);
    expect(both.refusal(question, { ...answered("bea", "key of bea"), by: "dora" })).toBe("it is signed with the key of bea");
  });

  test("it says nothing of calls and gives no grants", () => {
    const judge = createAnswerJudge({ webhook: service });
    expect(judge.wordRefusal(signWord({ kind: "resolution", callId: "run_1.0", attempt: 0, happened: true, atMs: 1 }, signerOf("dora", "webhook:1")))).toBe("it is signed with a key that this gate does not know");
  });
});
