import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCallgate } from "./index.ts";

test("values of a server's tools are hashes in the record where the configuration says so, and detectors are switched; the program has them", async () => {
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-"));
  const server = join(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"), "../dist/index.js");
  const gate = await createCallgate({ stateFolder, mcpServers: { every: { command: process.execPath, args: [server], effects: { echo: "read" }, sensitive: { echo: ["/input/message"] }, detect: { "*": { "/output": { email: false } } } } } });
  onTestFinished(async () => {
    await gate.close();
    rmSync(stateFolder, { recursive: true, force: true });
  });
  await gate.ready();
  const run = await gate.run('return await tools.every.echo({ message: "born in 1990, ann@mail.example" })');
  expect(run).toMatchObject({ status: "completed", value: { value: "Echo: born in 1990, ann@mail.example" } });
  const entries = (await gate.runs.show(run.runId))?.entries ?? [];
  expect(entries.find(({ kind }) => kind === "call-issued")).toMatchObject({ args: { summary: { message: expect.stringMatching(/^hash:/) as string } } });
  expect(entries.find(({ kind }) => kind === "call-ended")).toMatchObject({ result: { summary: "Echo: born in 1990, ann@mail.example" } });
}, 60_000);
