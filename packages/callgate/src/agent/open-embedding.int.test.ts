import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool } from "@callgate/runtime/source";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCallgate } from "../create-callgate.ts";
import { openEmbedding } from "./open-embedding.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "callgate-embedding-"));
interface Heard {
  readonly path: string;
  readonly key: string | undefined;
  readonly input: readonly string[];
}
const heard: Heard[] = [];
let isBroken = false;
/** Speaks OpenAI's format; its vectors say whether a text is of money or not. */
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    const { input } = JSON.parse(body) as { readonly input: readonly string[] };
    heard.push({ path: request.url ?? "", key: request.headers.authorization, input });
    if (isBroken) return void response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no such model","type":"invalid_request_error","code":null,"param":null}}');
    const data = input.map((text, index) => ({ object: "embedding", index, embedding: /refund|money|paying/i.test(text) ? [1, 0.1] : [0.1, 1] }));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", model: "m", data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
  });
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  rmSync(stateFolder, { recursive: true, force: true });
  server.close();
});

const shop = ["refund", "list_orders", "moon_phase"].map((name) => defineTool({ name, description: name.replace("_", " "), effect: "read", input: { type: "object" }, handler: () => null }));
const config = () => ({ provider: "openai", model: "m", dimensions: 2, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, apiKey: "env:EMBEDDING_TEST_KEY" }) as const;

describe("the embedding model of a configuration", () => {
  test("is asked with the key of a reference, kept between gates, and found by; what it cannot is told and costs no search", { timeout: 60_000 }, async () => {
    process.env["EMBEDDING_TEST_KEY"] = "k-very-secret-key";
    const open = (onFault: (fault: unknown) => void = () => undefined) => createCallgate({ stateFolder, folder: stateFolder, tools: { crm: shop }, embedding: config(), onFault });
    const gate = await open();
    const notices: string[] = [];
    expect((await gate.search("quit paying me", { onNotice: (notice) => void notices.push(notice) })).map(({ name }) => name)).toEqual(["crm.refund"]);
    expect(notices).toEqual([]);
    const fromProgram = await gate.run('return (await tools.search("quit paying me")).map((hit) => hit.name)');
    expect(fromProgram.value).toMatchObject({ value: ["crm.refund"] });
    await gate.close();
    expect(heard.map(({ path, key }) => [path, key])).toEqual([["/v1/embeddings", "Bearer k-very-secret-key"], ["/v1/embeddings", "Bearer k-very-secret-key"]]);
    expect(heard.flatMap(({ input }) => input)).toHaveLength(4);

    isBroken = true;
    const faults: string[] = [];
    const again = await open((fault) => void faults.push(String(fault)));
    expect((await again.search("moon", { onNotice: (notice) => void notices.push(notice) })).map(({ name }) => name)).toEqual(["crm.moon_phase"]);
    expect(notices).toEqual(["The embedding model did not answer: tools were found by words alone."]);
    expect(faults).toEqual([expect.stringContaining("no such model") as string]);
    const said = await again.run('return (await tools.search("moon")).length');
    expect(said).toMatchObject({ status: "completed", notices: [notices[0]] });
    await again.close();
    // The vectors of the tools were there.
    expect(heard.slice(2).flatMap(({ input }) => input)).toEqual(["moon"]);
    const kept = readdirSync(join(stateFolder, "search-index")).map((name) => readFileSync(join(stateFolder, "search-index", name), "latin1"));
    expect(kept).toHaveLength(1);
    expect([...kept, ...faults].join()).not.toContain("k-very-secret-key");
  });

  test.each([
    [{ provider: "google", model: "m", dimensions: 2, apiKey: "env:KEY" } as const, "npm i @ai-sdk/google"],
    [{ provider: "openai", model: "m", dimensions: 2 } as const, "embedding.apiKey"],
    [{ provider: "openai-compatible", model: "m", dimensions: 2 } as const, "embedding.baseURL is missing"],
  ])("says what is missing when it is first asked: %j", async (block, said) => {
    await expect(openEmbedding(block, { folder: stateFolder, env: { KEY: "k-123456" } }).provider.embed(["a"], new AbortController().signal)).rejects.toThrow(said);
  });
});
