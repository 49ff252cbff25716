import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { serveProvider } from "../../../agent/src/fixtures/provider-server.ts";
import { openGate } from "../open-gate.ts";

const root = mkdtempSync(join(tmpdir(), "callgate-ai-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function gateOf(name: string, config: object) {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "callgate.jsonc"), JSON.stringify(config));
  writeFileSync(join(folder, "key.txt"), "test-key\n");
  return openGate({ configFile: join(folder, "callgate.jsonc"), folder, folders: { config: join(root, "config"), state: join(folder, "state") }, ensureTrust: () => Promise.resolve(), principal: {}, warm: false });
}

test("where a model is configured ai.summarize is an ordinary tool that asks it; a namespace of the user's own stays theirs", { timeout: 120_000 }, async () => {
  await using server = await serveProvider([{ text: "Short." }]);
  const agent = { provider: "openai", model: "m", apiKey: "file:key.txt", baseURL: server.url };
  const gate = await gateOf("with", { agent });
  await gate.ready();
  expect(gate.tools().map(({ name }) => name)).toEqual(["ai.extract", "ai.summarize"]);
  expect((await gate.call("ai.summarize", { text: "A long text." })).outcome).toMatchObject({ kind: "ok", value: "Short." });
  expect(server.requests.length).toBe(1);
  await gate.close();
  const own = await gateOf("own", { agent, mcpServers: { ai: { command: "no-such-server" } } });
  expect(own.tools().map(({ name }) => name)).toEqual([]);
  await own.close();
});
