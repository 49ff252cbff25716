import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, test } from "vitest";
import { createWebhookSender } from "./webhook-sender.ts";

const secret = "0123456789abcdef0123456789abcdef";
const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Heard {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A receiver that answers these statuses, one after the other; the last again. */
async function receiver(...statuses: readonly number[]): Promise<{ readonly url: string; readonly heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      heard.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(statuses[Math.min(heard.length, statuses.length) - 1] ?? 200, { location: "/elsewhere" }).end("thanks");
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, heard };
}

test("a message is signed as Standard Webhooks say, and a changed one is found out", async () => {
  const { url, heard } = await receiver(204);
  await createWebhookSender({ url, secret }).send("alert", { ruleId: "timeouts" });
  const [{ headers, body } = { headers: {}, body: "" }] = heard;
  const check = new Webhook(Buffer.from(secret), { format: "raw" });
  expect(check.verify(body, headers)).toMatchObject({ type: "alert", data: { ruleId: "timeouts" } });
  expect(() => check.verify(body.replace("timeouts", "denials"), headers)).toThrow();
  expect(() => new Webhook(Buffer.from(`${secret}x`), { format: "raw" }).verify(body, headers)).toThrow();
});

test("a receiver that fails is tried again with the same id, and one that goes on failing is told without its address", async () => {
  const { url, heard } = await receiver(500, 200);
  await createWebhookSender({ url, secret }).send("alert", {});
  expect([heard.length, new Set(heard.map(({ headers }) => headers["webhook-id"])).size]).toEqual([2, 1]);
  const down = await receiver(503);
  await expect(createWebhookSender({ url: down.url, secret, attempts: 2 }).send("alert", {})).rejects.toThrow(/^The webhook took no alert message in 2 tries: it answered 503$/);
});

test("it follows nobody elsewhere", async () => {
  const { url, heard } = await receiver(302);
  await expect(createWebhookSender({ url, secret, attempts: 1 }).send("alert", {})).rejects.toThrow(/took no alert message/);
  expect(heard).toHaveLength(1);
});

test.each([
  ["http://hooks.example/x", secret, /must be a URL with https/],
  ["ftp://127.0.0.1/x", secret, /must be a URL with https/],
  ["not a url", secret, /must be a URL with https/],
  ["https://hooks.example/x", "short", /must be at least 24 bytes, it is 5/],
])("%s with this secret is refused", (url, key, message) => expect(() => createWebhookSender({ url, secret: key })).toThrow(message));
