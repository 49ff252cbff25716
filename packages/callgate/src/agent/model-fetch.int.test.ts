import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@callgate/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCallgate } from "../create-callgate.ts";
import { openModel } from "./open-model.ts";
import { modelFetch } from "./model-fetch.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "callgate-model-fetch-"));
const heard: { readonly path: string; readonly key: string | undefined }[] = [];
const elsewhere = createServer((request, response) => {
  heard.push({ path: `elsewhere ${request.url ?? ""}`, key: request.headers.authorization });
  response.end("{}");
});
const provider = createServer((request, response) => {
  heard.push({ path: request.url ?? "", key: request.headers.authorization });
  response.writeHead(307, { location: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/v1/responses` }).end();
});
const originOf = (server: typeof provider): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  for (const server of [provider, elsewhere]) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  rmSync(stateFolder, { recursive: true, force: true });
  for (const server of [provider, elsewhere]) server.close();
});

test("a provider that was not named is not asked on this machine, and the same request is not worth a second try", async () => {
  await expect(modelFetch(undefined)(`${originOf(provider)}/v1`)).rejects.toMatchObject({ name: "HttpFailed", failure: { reason: "refused", isSent: false }, isRetryable: false });
  expect(heard).toEqual([]);
});

test("a model of the configuration is asked through the guarded client: a redirect takes neither request nor key elsewhere", { timeout: 120_000 }, async () => {
  const model = await openModel({ provider: "openai", model: "m", baseURL: `${originOf(provider)}/v1`, apiKey: "env:KEY" }, { folder: process.cwd(), env: { KEY: "k-123456" } });
  const gate = await createCallgate({ stateFolder });
  const result = await createAgent({ name: "a", model, gate, limits: { retryMs: 0 } }).run("hello");
  await gate.close();
  expect(result.stop).toMatchObject({ kind: "failed", error: { code: "MODEL_UNAVAILABLE" } });
  expect(heard).toEqual([{ path: "/v1/responses", key: "Bearer k-123456" }]);
  expect(JSON.stringify(result)).not.toContain("k-123456");
});
