import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { shopTools } from "./fixtures/shop-tools.ts";

const secrets = { ASK_SECRET: "0123456789abcdef0123456789abcdef", ANSWER_SECRET: "fedcba9876543210fedcba9876543210" };

test("a command asks a service, callgate mcp takes its signed answer, and the run goes on there; a command's own word does not count", { timeout: 600_000 }, async () => {
  const tokens: string[] = [];
  const service = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      tokens.push((JSON.parse(body) as { readonly data: { readonly answer: { readonly token: string } } }).data.answer.token);
      response.end();
    });
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const webhook = { url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/`, secret: "env:ASK_SECRET", answers: { secret: "env:ANSWER_SECRET" } };
  const { root, folder, env } = createCliProject({ "tools/shop.ts": shopTools, "callgate.jsonc": JSON.stringify({ rules: [{ ask: "shop.order" }], approvals: { webhook }, principal: { user: "ann", agent: "desk" }, suspendAfterMs: 0 }) }, { USER: "ann", ...secrets });
  onTestFinished(() => {
    service.close();
    rmSync(root, { recursive: true, force: true });
  });
  const callgate = async (...args: readonly string[]) => await new Promise<{ readonly code: number | null; readonly stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [callgateBin, "--trust", ...args], { cwd: folder, env }, (_fault, _stdout, stderr) => resolve({ code: child.exitCode, stderr }));
  });
  await callgate("exec", "-e", "return await tools.shop.order({ n: 4 })");
  expect(tokens).toHaveLength(1);
  const approvalId = (JSON.parse(Buffer.from((tokens[0] ?? "").split(".")[0] ?? "", "base64url").toString()) as readonly string[])[1] ?? "";
  expect(await callgate("approvals", "approve", approvalId, "--user", "bea")).toMatchObject({ code: 4, stderr: expect.stringContaining("answers come by webhook") as string });
  const server = spawn(process.execPath, [callgateBin, "--trust", "mcp", "--http", "0"], { cwd: folder, env });
  onTestFinished(() => void server.kill("SIGKILL"));
  let err = "";
  server.stderr.on("data", (chunk: Buffer) => { err += chunk.toString(); });
  await vi.waitUntil(() => err.includes("/mcp"), { timeout: 200_000, interval: 100 });
  const url = (/http:\S+/.exec(err)?.[0] ?? "").replace("/mcp", "/answers");
  const post = async (secret: string): Promise<number> => {
    const [id, at, body] = [`msg_${secret}`, new Date(), JSON.stringify({ token: tokens[0], approved: true, by: "bea" })] as const;
    return (await fetch(url, { method: "POST", body, headers: { "webhook-id": id, "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": new Webhook(Buffer.from(secret), { format: "raw" }).sign(id, at, body) } })).status;
  };
  expect([await post(secrets.ASK_SECRET), await post(secrets.ANSWER_SECRET)]).toEqual([401, 200]);
  await vi.waitUntil(() => existsSync(join(folder, "ledger")), { timeout: 200_000, interval: 100 });
  expect(readFileSync(join(folder, "ledger"), "utf8")).toBe("order 4\n");
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await ended;
  for (const secret of Object.values(secrets)) expect(err).not.toContain(secret);
});
