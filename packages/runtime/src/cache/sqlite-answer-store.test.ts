import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualClock } from "@callgate/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMasterKey } from "../secrets/master-key.ts";
import { createSealedAnswers } from "./sealed-answers.ts";
import { createSqliteAnswerStore } from "./sqlite-answer-store.ts";

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "callgate-answers-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function open(folder: string, { maxBytes, clock = virtualClock(), key = 7 }: { readonly maxBytes?: number; readonly clock?: ReturnType<typeof virtualClock>; readonly key?: number } = {}) {
  const store = createSqliteAnswerStore({ path: join(folder, "answers.db"), clock, ...(maxBytes === undefined ? {} : { maxBytes }) });
  onTestFinished(() => store.close());
  return { store, clock, answers: createSealedAnswers(store, createMasterKey(new Uint8Array(32).fill(key))) };
}

const answer = (json: string) => ({ wire: { json, tagged: false }, effectStatus: "none" as const });

describe("createSqliteAnswerStore", () => {
  test("one process finds what another kept, within its time", async () => {
    const folder = await makeFolder();
    const { answers, clock } = open(folder);
    await answers.put("key", answer('{"n":1}'), 1_000);
    const other = open(folder, { clock });
    expect(await other.answers.get("key")).toEqual(answer('{"n":1}'));
    expect(await other.answers.get("another")).toBeUndefined();
    await clock.advance(999);
    expect(await other.answers.get("key")).toBeDefined();
    await clock.advance(1);
    expect(await other.answers.get("key")).toBeUndefined();
  });

  test("keeps neither values nor what was asked in clear, in files of its owner; another key opens nothing, and an answer opens under its own name only", async () => {
    const folder = await makeFolder();
    const { answers, store } = open(folder);
    await answers.put("canary-question", answer('"canary-answer"'), 60_000);
    await store.close();
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name));
      expect([name, bytes.includes("canary")]).toEqual([name, false]);
      expect((await stat(join(folder, name))).mode & 0o077).toBe(0);
    }
    expect(await open(folder, { key: 8 }).answers.get("canary-question")).toBeUndefined();
    const moved = new Map<string, Uint8Array>();
    const swapped = createSealedAnswers({ get: () => Promise.resolve([...moved.values()][0]), put: (name, sealed) => Promise.resolve(void moved.set(name, sealed)), close: () => Promise.resolve() }, createMasterKey(new Uint8Array(32)));
    await swapped.put("one", answer("1"), 1_000);
    expect(await swapped.get("one")).toEqual(answer("1"));
    expect(await swapped.get("two")).toBeUndefined();
  });

  test("is bounded: what was used least recently goes first", async () => {
    const { answers, store, clock } = open(await makeFolder(), { maxBytes: 200_000 });
    const text = JSON.stringify("x".repeat(1_000));
    for (let index = 0; index < 400; index += 1) {
      await answers.put(`k${index}`, answer(text), 1e9);
      await clock.advance(61_000);
      await answers.get("k0");
    }
    const found = await Promise.all(Array.from({ length: 400 }, (_, index) => answers.get(`k${index}`)));
    const kept = found.flatMap((one, index) => (one === undefined ? [] : [index]));
    expect(kept.length).toBeLessThan(300);
    expect(kept.length).toBeGreaterThan(50);
    expect(kept[0]).toBe(0);
    expect(kept.at(-1)).toBe(399);
    await store.put("huge", new Uint8Array(100_000), 1e9);
    expect(await store.get("huge")).toBeUndefined();
  });

  test("a damaged file, or one of another version, is replaced by an empty one", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "answers.db"), "this is no database, and never was one ".repeat(100));
    const { answers } = open(folder);
    await answers.put("key", answer("1"), 1_000);
    expect(await answers.get("key")).toEqual(answer("1"));
  });

  test("what cannot be read is not there, and what cannot be kept is not kept", async () => {
    const { answers, store } = open(await makeFolder());
    await store.close();
    await answers.put("key", answer("1"), 1_000);
    expect(await answers.get("key")).toBeUndefined();
  });
});
