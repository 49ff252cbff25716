import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createCassette } from "./cassette.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-cassette-"));
const file = join(folder, "talk.json");
afterEach(() => rmSync(file, { force: true }));

/** Of the shape that a well-known service gives out. */
const key = ["ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("_");
const post = (body: unknown): RequestInit => ({ method: "POST", headers: { authorization: `Bearer ${key}`, "x-api-key": key }, body: JSON.stringify(body) });

async function record(): Promise<void> {
  const cassette = createCassette({ file, mode: "record", secrets: ["Ines Kowalski"], fetch: async (_url, init) => new Response(`data: {"said":${JSON.stringify(JSON.stringify(init?.body))}}\n\ndata: for Ines Kowalski\n\n`, { headers: { "content-type": "text/event-stream" } }) });
  await (await cassette.fetch("https://example.test/v1/chat?key=hidden", post({ a: 1, note: "for Ines Kowalski", token: key }))).text();
  cassette.save();
}

describe("createCassette", () => {
  test("gives to the same request the same answer, in any order of keys, and nothing goes out", async () => {
    await record();
    const cassette = createCassette({ file, secrets: ["Ines Kowalski"] });
    expect(cassette.left).toBe(1);
    const answer = await cassette.fetch("https://example.test/v1/chat?key=other", post({ token: key, note: "for Ines Kowalski", a: 1 }));
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(await answer.text()).toContain("data: ");
    expect(cassette.left).toBe(0);
  });

  test("holds no key, no header and no name that it was told of", async () => {
    await record();
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain(key);
    expect(text).not.toContain("Kowalski");
    expect(text).not.toContain("hidden");
    expect(text.toLowerCase()).not.toContain("authorization");
  });

  test("refuses another request with the place where it differs, and one too many", async () => {
    await record();
    const cassette = createCassette({ file, secrets: ["Ines Kowalski"] });
    await expect(cassette.fetch("https://example.test/v1/chat", post({ a: 2, note: "for Ines Kowalski", token: key }))).rejects.toMatchObject({ code: "RECORDING_INVALID", message: expect.stringContaining("/body/a") as string });
    await cassette.fetch("https://example.test/v1/chat", post({ a: 1, note: "for Ines Kowalski", token: key }));
    await expect(cassette.fetch("https://example.test/v1/chat", post({}))).rejects.toMatchObject({ code: "RECORDING_INVALID" });
  });

  test("ids that a provider's package makes up for calls may be others, as long as each stands for one; those of answers may not", async () => {
    const recording = createCassette({ file, mode: "record", fetch: async () => new Response('data: {"functionCall":{"name":"look"},"given":"call_1"}\n\n') });
    const turn = (made: string, answered: string, given = "call_1") => post({ calls: [{ id: made, name: "look" }, { id: given, name: "see" }], results: [{ call_id: answered }] });
    const ask = async (one: ReturnType<typeof createCassette>, init: RequestInit) => (await one.fetch("https://example.test/v1/chat", init)).text();
    await ask(recording, post({}));
    await ask(recording, turn("aa11", "aa11"));
    recording.save();
    const replaying = async (init: RequestInit) => {
      const cassette = createCassette({ file });
      await ask(cassette, post({}));
      return await ask(cassette, init);
    };
    expect(await replaying(turn("bb22", "bb22"))).toContain("functionCall");
    await expect(replaying(turn("bb22", "cc33"))).rejects.toMatchObject({ message: expect.stringContaining("/body/results/0/call_id") as string });
    await expect(replaying(turn("bb22", "bb22", "call_2"))).rejects.toMatchObject({ message: expect.stringContaining("/body/calls/1/id") as string });
    await expect(replaying(turn("call_1", "call_1"))).rejects.toMatchObject({ code: "RECORDING_INVALID" });
  });

  test.each([["{", "no JSON"], ['{"version":2}', "no recording"]])("refuses a file that holds %s", (content, said) => {
    writeFileSync(file, content);
    expect(() => createCassette({ file })).toThrow(said);
  });

  test("says how to make a file that is not there, and that recording needs a way out", () => {
    expect(() => createCassette({ file })).toThrow("record");
    expect(() => createCassette({ file, mode: "record" })).toThrow("fetch");
  });
});
