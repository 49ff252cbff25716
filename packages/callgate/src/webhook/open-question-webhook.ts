import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { AnswerSigner, ApprovalQuestion, ApprovalRules } from "@callgate/contract";
import { approvalsConfig } from "../approver/approval-rules.ts";
import type { ConfigFile } from "../config/config-schema.ts";
import { resolveReferences } from "../config/secret-references.ts";
import { createWebhookSender, webhookAddress, webhookKey } from "./webhook-sender.ts";
import type { WebhookSender } from "./webhook-sender.ts";

/** The service that questions are posted to. */
export interface QuestionWebhook {
  readonly sender: WebhookSender;
  /** How it answers. Absent: it is only told. */
  readonly answers?: WebhookAnswers;
  /** What must appear nowhere. */
  readonly secrets: readonly string[];
}

export interface WebhookAnswers {
  /** Where answers are posted to. */
  readonly url: string;
  /** What they are signed with. */
  readonly secret: Buffer;
  readonly rule: NonNullable<ApprovalRules["webhook"]>;
  /** Signs an answer that came with a valid signature, in the name of who gave it. */
  signer(by: string): AnswerSigner;
  /** Good for an answer to this question and to no other. It names the question, so that an answer need not. */
  token(question: ApprovalQuestion): string;
  /** Which question a token is about. Undefined: it is none. Whether it was made here is told by `isFor`. */
  readToken(token: string): { readonly tenant: string; readonly approvalId: string } | undefined;
  isFor(question: ApprovalQuestion, token: string): boolean;
}

/** The port of `callgate mcp --http`, where nothing else is said. */
const defaultAnswersUrl = "http://127.0.0.1:7423/answers";

/**
 * The webhook for questions that a configuration names; undefined: none.
 *
 * Errors: CONFIG_INVALID for a reference to nothing, an address that is not safe, a secret that is too short or there twice.
 */
export function openQuestionWebhook(approvals: ConfigFile["approvals"], host: Parameters<typeof resolveReferences>[2]): QuestionWebhook | undefined {
  const { webhook, mode } = approvalsConfig(approvals);
  if (webhook === undefined) return undefined;
  if (mode === "ask") throw new CallgateError("CONFIG_INVALID", 'approvals.webhook needs "mode": "keep": with "ask", a question ends where nobody sits at a terminal');
  const { answers, ...told } = webhook;
  const { url = "", secret = "" } = resolveReferences(told, "approvals.webhook", host).values;
  const sender = createWebhookSender({ url, secret, timeoutMs: 5_000 });
  if (answers === undefined) return { sender, secrets: [secret] };
  const { url: answersUrl = defaultAnswersUrl, secret: answersSecret = "" } = resolveReferences({ ...(answers.url === undefined ? {} : { url: answers.url }), secret: answers.secret }, "approvals.webhook.answers", host).values;
  // What is sent there must not come back as an answer.
  if (webhookKey(secret).equals(webhookKey(answersSecret))) throw new CallgateError("CONFIG_INVALID", "approvals.webhook.answers.secret must be another one than approvals.webhook.secret");
  return { sender, answers: webhookAnswers({ url: webhookAddress(answersUrl).href, secret: webhookKey(answersSecret), sendingKey: webhookKey(secret) }), secrets: [secret, answersSecret] };
}

interface AnswerSecrets {
  readonly url: string;
  readonly secret: Buffer;
  readonly sendingKey: Buffer;
}

function webhookAnswers({ url, secret, sendingKey }: AnswerSecrets): WebhookAnswers {
  const signingKey = derive(secret, "callgate webhook answers");
  const tokenKey = derive(sendingKey, "callgate answer tokens");
  const keyId = `webhook:${createHash("sha256").update(derive(secret, "callgate webhook name")).digest("hex").slice(0, 32)}`;
  const signatureOf = (digest: string): Buffer => createHmac("sha256", signingKey).update(digest).digest();
  const sealOf = (question: ApprovalQuestion): Buffer => createHmac("sha256", tokenKey).update(bindingOf(question)).digest();
  return {
    url,
    secret,
    rule: { keyId, verify: (digest, { value }) => isSame(signatureOf(digest), value) },
    signer: (by) => ({ by, sign: (digest) => ({ keyId, value: signatureOf(digest).toString("base64url") }) }),
    token: (question) => `${Buffer.from(JSON.stringify([question.principal.tenant, question.approvalId])).toString("base64url")}.${sealOf(question).toString("base64url")}`,
    readToken,
    isFor: (question, token) => isSame(sealOf(question), token.split(".")[1] ?? ""),
  };
}

function readToken(token: string): { readonly tenant: string; readonly approvalId: string } | undefined {
  let named: unknown;
  try {
    named = JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  const [tenant, approvalId]: readonly unknown[] = Array.isArray(named) ? named : [];
  return typeof tenant === "string" && typeof approvalId === "string" ? { tenant, approvalId } : undefined;
}

/** The parts of a question that an approval is held against when it is used. */
function bindingOf({ approvalId, principal, runId, callId, tool, definitionDigest, argsDigest, policyVersion, expiresAtMs }: ApprovalQuestion): string {
  return JSON.stringify([principal.tenant, approvalId, runId, callId, tool, definitionDigest, argsDigest, policyVersion, expiresAtMs]);
}

function derive(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
}

function isSame(expected: Buffer, given: string): boolean {
  const bytes = Buffer.from(given, "base64url");
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
