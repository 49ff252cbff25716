import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMcpServer } from "@callgate/mcp-server";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { createCallgate, defineTool } from "../index.ts";
import type { ConfigFile } from "../config/config-schema.ts";
import { createAnswersPage } from "./create-answers-page.ts";
import { openQuestionWebhook } from "./open-question-webhook.ts";

const askSecret = "0123456789abcdef0123456789abcdef";
const answerSecret = "fedcba9876543210fedcba9876543210";
process.env["TEST_ASK_SECRET"] = askSecret;
process.env["TEST_ANSWER_SECRET"] = answerSecret;

type Approvals = Exclude<ConfigFile["approvals"], string | undefined>;
interface Asked {
  readonly approvalId: string;
  readonly runId: string;
  readonly text: string;
  readonly arguments: unknown;
  readonly answer: { readonly url: string; readonly token: string };
}

let messages = 0;

/** A service that takes questions, a gate that asks it, and an endpoint that takes its answers. */
async function world({ status = 204, approvals = {}, fault = () => undefined }: { readonly status?: number; readonly approvals?: Partial<Approvals>; readonly fault?: (fault: unknown) => void } = {}) {
  const asked: Asked[] = [];
  const tries: string[] = [];
  const service = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      tries.push(String(request.headers["webhook-id"]));
      const message = new Webhook(Buffer.from(askSecret), { format: "raw" }).verify(body, request.headers as Record<string, string>) as { readonly type: string; readonly data: Asked };
      if (status === 204 && message.type === "approval.asked") asked.push(message.data);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-webhook-"));
  const paid: unknown[] = [];
  const config: Approvals = { ...approvals, webhook: { url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/hook`, secret: "env:TEST_ASK_SECRET", answers: { secret: "env:TEST_ANSWER_SECRET" } } };
  const pay = defineTool({ name: "pay", description: "Pays", effect: "write", input: { type: "object", properties: { amount: { type: "number" }, note: { type: "string" }, card: { type: "string" } } }, sensitive: ["/input/card"], handler: (args) => { paid.push(args); return { paid: true }; } });
  const gate = await createCallgate({ folder: stateFolder, stateFolder, tools: { crm: [pay] }, rules: [{ ask: "crm.pay" }], approvals: config, suspendAfterMs: 0, principal: { user: "ann", agent: "claude" }, onFault: fault });
  const answers = openQuestionWebhook(config, { env: process.env, folder: stateFolder })?.answers;
  if (answers === undefined) throw new Error("no webhook");
  const server = createMcpServer({ gate, version: "1" });
  const { url } = await server.serveHttp({ answers: createAnswersPage(gate, answers, fault) });
  onTestFinished(async () => {
    await server.close();
    await gate.close();
    service.close();
    rmSync(stateFolder, { recursive: true, force: true });
  });

  /** Runs a program that pays, up to its question. */
  async function ask(amount: number) {
    const before = asked.length;
    const run = await gate.run(`return await tools.crm.pay({ amount: ${amount}, note: "\\u202egpj", card: "4111 1111 1111 1111" })`);
    await vi.waitUntil(() => asked.length > before, { timeout: 60_000 });
    const question = asked.at(-1);
    if (question === undefined) throw new Error("nothing was asked");
    return { run, question };
  }

  /** Posts an answer as the service does; each part can be another one. */
  async function post(body: object | string, { id = `msg_${(messages += 1)}`, at = new Date(), secret = answerSecret, sent }: { readonly id?: string; readonly at?: Date; readonly secret?: string; readonly sent?: string } = {}) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const signature = new Webhook(Buffer.from(secret), { format: "raw" }).sign(id, at, text);
    const response = await fetch(url.replace("/mcp", "/answers"), { method: "POST", body: sent ?? text, headers: { "webhook-id": id, "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": signature } });
    return { status: response.status, error: ((await response.json()) as { readonly error?: string }).error };
  }
  return { gate, asked, tries, paid, ask, post, url, answers };
}

test("a question is posted as a person is shown it, answered with a signature in the name of who decided, and its run goes on", async () => {
  const { gate, ask, post, paid, asked, url, answers } = await world();
  const { run, question } = await ask(4);
  expect(question).toMatchObject({ tool: "crm.pay", effect: "write", asks: { user: "ann", agent: "claude" }, runId: run.runId, arguments: { amount: 4, note: "\u202egpj" }, isIntact: true, answer: { url: "http://127.0.0.1:7423/answers" } });
  expect(question.text).toContain("\\u202egpj");
  expect(JSON.stringify(question)).not.toContain("4111 1111");
  expect(await post({ token: question.answer.token, approved: true, by: "bea" })).toEqual({ status: 200, error: undefined });
  expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "completed", value: { value: { paid: true } } });
  expect(paid).toMatchObject([{ amount: 4 }]);
  expect((await gate.approvals.show(question.approvalId))?.answer).toMatchObject({ approved: true, by: "bea", signature: { keyId: answers.rule.keyId } });
  const no = await ask(5);
  expect((await post({ token: no.question.answer.token, approved: false, by: "bea", reason: "too much" })).status).toBe(200);
  expect(await gate.runs.resume(no.run.runId)).toMatchObject({ status: "failed", error: { code: "DENIED", message: expect.stringContaining("too much") as string } });
  expect([paid.length, asked.length]).toEqual([1, 2]);
  expect((await fetch(url.replace("/mcp", "/answers"))).status).toBe(405);
  expect(await post("x".repeat(20_000))).toMatchObject({ status: 413 });
}, 120_000);

test("what is forged, changed, late, replayed, for another question or from who asked answers nothing, and the right one counts after all", async () => {
  const { gate, ask, post, paid, answers } = await world();
  const [{ run, question }, other] = [await ask(4), await ask(9)];
  const yes = { token: question.answer.token, approved: true, by: "bea" };
  const minute = 60_000;
  const refused = "The message is not signed as it has to be";
  for (const how of [{ secret: askSecret }, { secret: "another secret, of some length" }, { at: new Date(Date.now() - 6 * minute) }, { at: new Date(Date.now() + 6 * minute) }, { sent: JSON.stringify({ ...yes, by: "eve" }) }]) expect(await post(yes, how)).toEqual({ status: 401, error: refused });
  const [named, seal] = [question.answer.token.split(".")[0], other.question.answer.token.split(".")[1]];
  for (const token of [`${named}.${seal}`, `${named}.`, `${named}`, "", "é.é", `${Buffer.from('["local","apr_none"]').toString("base64url")}.${seal}`]) expect(await post({ ...yes, token })).toEqual({ status: 404, error: "There is no such question" });
  expect(await post({ ...yes, args: { amount: 1 } })).toMatchObject({ status: 400 });
  expect(await post("{")).toMatchObject({ status: 400 });
  expect(await post({ ...yes, by: "Claude" })).toMatchObject({ status: 409, error: expect.stringContaining("nobody answers their own question") as string });
  expect((await gate.approvals.show(question.approvalId))?.state).toBe("open");
  expect(await post(yes, { id: "msg_once" })).toMatchObject({ status: 200 });
  expect(await post(yes, { id: "msg_once" })).toMatchObject({ status: 409, error: "This message was taken before" });
  // An endpoint that was started anew remembers no message; the record does.
  const [text, at] = [JSON.stringify(yes), new Date()];
  const again = { "webhook-id": "msg_once", "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": new Webhook(Buffer.from(answerSecret), { format: "raw" }).sign("msg_once", at, text) };
  expect(await createAnswersPage(gate, answers, (fault) => expect.fail(String(fault))).answer(again, text)).toEqual({ status: 409, body: { error: "It was answered before: approved. That counts" } });
  expect(await post({ ...yes, approved: false })).toMatchObject({ status: 409, error: expect.stringContaining("approved") as string });
  expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "completed" });
  expect(paid).toMatchObject([{ amount: 4 }]);
  expect((await gate.approvals.show(other.question.approvalId))?.state).toBe("open");
}, 120_000);

test("only what came by webhook counts: not the word of a command, a bare grant, or another service", async () => {
  const { gate, ask, answers } = await world();
  const { run, question } = await ask(4);
  await expect(gate.approvals.answer(question.approvalId, { approved: true, by: "bea" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
  await expect(gate.grants.add({ tool: "crm.pay", args: { "/amount": { any: true } }, user: "ann", maxUses: 1, expiresAtMs: Date.now() + 60_000, by: "bea" })).rejects.toMatchObject({ code: "SIGNAL_REFUSED" });
  // The secret of the webhook answers questions; it gives no grants.
  const grant = await gate.grants.add({ tool: "crm.pay", args: { "/amount": { any: true }, "/note": { any: true }, "/card": { any: true } }, user: "ann", agent: "claude", maxUses: 1, expiresAtMs: Date.now() + 60_000, signer: answers.signer("bea") });
  expect((await gate.grants.list()).find(({ grantId }) => grantId === grant.grantId)?.state).not.toBe("open");
  expect(gate.approvals.mayAnswer("bea")).toBe(false);
  await gate.approvals.answer(question.approvalId, { approved: true, signer: { by: "bea", sign: () => ({ keyId: answers.rule.keyId, value: Buffer.alloc(32).toString("base64url") }) } });
  expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "failed", error: { code: "DENIED", message: expect.stringContaining("signature is not valid") as string } });
}, 120_000);

test("an answer after the question's time is refused, and the run is told that nobody answered", async () => {
  const { gate, ask, post, paid } = await world({ approvals: { expiryDays: 1 / 86_400 } });
  const { run, question } = await ask(4);
  await vi.waitUntil(async () => (await gate.approvals.show(question.approvalId))?.state === "expired", { timeout: 60_000 });
  expect(await post({ token: question.answer.token, approved: true, by: "bea" })).toMatchObject({ status: 409, error: expect.stringContaining("in time") as string });
  expect(await gate.runs.resume(run.runId)).toMatchObject({ status: "failed", error: { code: "DENIED" } });
  expect(paid).toEqual([]);
}, 120_000);

test("a service that is down is tried again with the same message; then the question waits as it would without it", async () => {
  const faults: unknown[] = [];
  const { gate, tries } = await world({ status: 503, fault: (fault) => faults.push(fault) });
  const run = await gate.run("return await tools.crm.pay({ amount: 4 })");
  expect(run.status).toBe("suspended");
  await vi.waitUntil(() => faults.length > 0, { timeout: 100_000 });
  expect([tries.length, new Set(tries).size]).toEqual([5, 1]);
  expect(String(faults[0])).toContain("took no approval.asked message in 5 tries");
  expect(await gate.approvals.list()).toMatchObject([{ question: { runId: run.runId } }]);
}, 120_000);

test.each<[string, Approvals, RegExp]>([
  ["a mode that does not keep questions", { mode: "ask", webhook: { url: "https://a.example/x", secret: "env:TEST_ASK_SECRET" } }, /needs "mode": "keep"/],
  ["one secret for both ways", { webhook: { url: "https://a.example/x", secret: "env:TEST_ASK_SECRET", answers: { secret: "env:TEST_ASK_SECRET" } } }, /must be another one/],
  ["an address in the open", { webhook: { url: "https://a.example/x", secret: "env:TEST_ASK_SECRET", answers: { url: "http://a.example/answers", secret: "env:TEST_ANSWER_SECRET" } } }, /must be a URL with https/],
  ["a secret that is not there", { webhook: { url: "https://a.example/x", secret: "env:TEST_NO_SECRET" } }, /TEST_NO_SECRET, which is not set/],
])("%s is refused at the start", async (_title, approvals, message) => {
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-webhook-"));
  onTestFinished(() => rmSync(stateFolder, { recursive: true, force: true }));
  await expect(createCallgate({ folder: stateFolder, stateFolder, approvals })).rejects.toThrow(message);
});
