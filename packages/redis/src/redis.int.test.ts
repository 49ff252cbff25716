import { setTimeout as sleep } from "node:timers/promises";
import { missingRedis, startRedis } from "@callgate/testkit";
import type { PrivateRedis } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createRedisAnswerStore } from "./redis-answer-store.ts";
import { connectRedis } from "./redis-connection.ts";
import { createRedisRateStore } from "./redis-rate-store.ts";

const missing = missingRedis();
let server: PrivateRedis | undefined;

function ours(): PrivateRedis {
  if (server === undefined) throw new Error("The server was not started");
  return server;
}

async function openStore() {
  const store = createRedisRateStore(await connectRedis(ours().url));
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(missing !== undefined)(`Redis${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  test("of calls of several processes at once exactly as many are within a limit as it says", async () => {
    const stores = await Promise.all([openStore(), openStore(), openStore()]);
    const limit = { id: "raced", calls: 10, windowSeconds: 60 };
    const answers = await Promise.all(stores.flatMap((store) => Array.from({ length: 50 }, () => store.take(limit, "ann"))));
    expect(answers.filter(({ kind }) => kind === "taken")).toHaveLength(10);
    for (const answer of answers) if (answer.kind === "over") expect(answer.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(await stores[0]?.take(limit, "bob")).toEqual({ kind: "taken" });
  });

  test("what is over is not counted, and what is given back is free again", async () => {
    const store = await openStore();
    const limit = { id: "back", calls: 1, windowSeconds: 60 };
    await store.take(limit, "");
    for (let index = 0; index < 5; index += 1) expect(await store.take(limit, "")).toMatchObject({ kind: "over" });
    await store.giveBack(limit, "");
    expect(await store.take(limit, "")).toEqual({ kind: "taken" });
  });

  test("what is given back after its window is no gift to the next, and a window that is over is free", async () => {
    const store = await openStore();
    const limit = { id: "short", calls: 1, windowSeconds: 1 };
    await store.giveBack(limit, "never");
    expect(await store.take(limit, "never")).toEqual({ kind: "taken" });
    expect(await store.take(limit, "never")).toMatchObject({ kind: "over" });
    await store.take(limit, "late");
    while ((await store.take(limit, "late")).kind === "over") await sleep(50);
  });

  test("a server that is away or stands still is an error at once, and counts go on when it is back", async () => {
    const store = await openStore();
    const limit = { id: "away", calls: 5, windowSeconds: 60 };
    await store.take(limit, "");
    ours().freeze();
    await expect(store.take(limit, "")).rejects.toThrow();
    ours().thaw();
    await ours().startAgain();
    const until = Date.now() + 30_000;
    while (Date.now() < until && (await store.take(limit, "").catch(() => undefined)) === undefined) await sleep(50);
    expect(await store.take(limit, "")).toEqual({ kind: "taken" });
  });

  test("keeps no name of a caller in clear", async () => {
    const connection = await connectRedis(ours().url);
    const store = createRedisRateStore(connection);
    onTestFinished(() => store.close());
    await store.take({ id: "named", calls: 1, windowSeconds: 60 }, "canary-user");
    const keys = await connection.client.keys("*");
    expect(keys.filter((key) => key.startsWith("callgate:rate:named"))).toHaveLength(1);
    expect(keys.join(" ")).not.toContain("canary");
  });

  test("keeps sealed answers for all, as bytes, until their time is over", async () => {
    const [one, other] = [createRedisAnswerStore(await connectRedis(ours().url)), createRedisAnswerStore(await connectRedis(ours().url))];
    onTestFinished(() => Promise.all([one.close(), other.close(), one.close()]).then(() => undefined));
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await one.put("name", bytes, 300);
    expect(Buffer.from((await other.get("name")) ?? []).equals(bytes)).toBe(true);
    expect(await other.get("another")).toBeUndefined();
    while ((await other.get("name")) !== undefined) await sleep(20);
  });

  test("without a server it opens all the same, and says that it is not ready", async () => {
    const connection = await connectRedis("redis://127.0.0.1:1");
    onTestFinished(() => connection.close());
    expect(connection.isReady).toBe(false);
    await expect(createRedisRateStore(connection).take({ id: "none", calls: 1, windowSeconds: 1 }, "")).rejects.toThrow();
  });
});
