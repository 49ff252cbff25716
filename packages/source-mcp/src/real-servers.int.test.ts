import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Source, ToolContext } from "@callgate/contract";
import { localPrincipal, SourceReturn } from "@callgate/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMcpSource } from "./mcp-source.ts";

const require = createRequire(import.meta.url);

/** The installed server's entry file, started with this Node: no package runner, no network. */
async function entryOf(name: string): Promise<string> {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = JSON.parse(await readFile(manifest, "utf8")) as { bin: Record<string, string> };
  return join(dirname(manifest), Object.values(bin)[0] ?? "");
}

let folder: string;
const open: Source[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "callgate-mcp-"));
});
afterAll(async () => {
  await Promise.all(open.map((source) => source.close()));
  await rm(folder, { recursive: true, force: true });
});

async function real(name: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Source> {
  const source = createMcpSource({ namespace: name, command: process.execPath, args: [await entryOf(`@modelcontextprotocol/server-${name}`), ...args], env });
  open.push(source);
  return source;
}

const signal = (): AbortSignal => AbortSignal.timeout(25_000);

function context(progress: string[] = []): ToolContext {
  const log = (): void => undefined;
  return {
    signal: signal(),
    principal: localPrincipal,
    runId: "run_1",
    callId: "call_1",
    idempotencyKey: "key_1",
    log: { debug: log, info: log, warn: log, error: log },
    progress: (message) => void progress.push(message),
    reportCost: () => undefined, attach: () => Promise.reject(new Error("not used")),
  };
}

describe("createMcpSource with the official servers", () => {
  test("filesystem: lists with effects, reads, writes, and fails with the server's words", async () => {
    await writeFile(join(folder, "minutes.md"), "# Minutes\n");
    const source = await real("filesystem", [folder]);
    const { tools, problems } = await source.list(signal());
    expect(problems).toEqual([]);
    const effects = new Map(tools.map(({ tool }) => [tool.name, tool.effect]));
    expect(effects.get("read_text_file")).toBe("read");
    expect(effects.get("write_file")).not.toBe("read");
    expect(await source.call("read_text_file", { path: join(folder, "minutes.md") }, context())).toEqual({ content: "# Minutes\n" });
    await source.call("write_file", { path: join(folder, "out.txt"), content: "ok" }, context());
    expect(await readFile(join(folder, "out.txt"), "utf8")).toBe("ok");
    await expect(source.call("read_text_file", { path: "/etc/hostname" }, context())).rejects.toMatchObject({ code: "TOOL_FAILED", message: expect.stringMatching(/denied|outside/i) as string });
  });

  test("everything: structured content, pictures, progress, resources and prompts", async () => {
    const source = await real("everything");
    const { tools, problems } = await source.list(signal());
    expect(problems).toEqual([]);
    expect(tools.length).toBeGreaterThan(8);
    expect(await source.call("echo", { message: "hi" }, context())).toBe("Echo: hi");
    expect(await source.call("get-structured-content", { location: "New York" }, context())).toMatchObject({ temperature: expect.any(Number) as number });
    const returned = await source.call("get-tiny-image", {}, context());
    const artifacts = SourceReturn.is(returned) ? returned.artifacts : [];
    expect(artifacts[0]?.mimeType).toBe("image/png");
    expect(Buffer.from(artifacts[0]?.bytes.subarray(1, 4) ?? []).toString()).toBe("PNG");
    const progress: string[] = [];
    await source.call("trigger-long-running-operation", { duration: 1, steps: 4 }, context(progress));
    expect(progress.length).toBeGreaterThan(1);
    const resources = await source.passThrough?.listResources(signal());
    expect(resources?.length).toBeGreaterThan(0);
    const [content] = (await source.passThrough?.readResource(resources?.[0]?.uri ?? "", signal())) ?? [];
    expect(content?.content.kind).toBeDefined();
    expect((await source.passThrough?.listPrompts(signal()))?.length).toBeGreaterThan(0);
  });

  test("memory: writes and reads its own file", async () => {
    const source = await real("memory", [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") });
    await source.list(signal());
    await source.call("create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["mathematician"] }] }, context());
    expect(await source.call("search_nodes", { query: "Ada" }, context())).toMatchObject({ entities: [{ name: "Ada" }] });
  });

  test("sequential-thinking: one call", async () => {
    const source = await real("sequential-thinking");
    const [only] = (await source.list(signal())).tools;
    expect(await source.call(only?.tool.name ?? "", { thought: "a", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }, context())).toMatchObject({ thoughtNumber: 1 });
  });
});
