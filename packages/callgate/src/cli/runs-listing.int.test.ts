import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { callgateBin, createCliProject } from "./fixtures/cli-project.ts";
import { runCommand } from "./fixtures/run-command.ts";

const tools = `
import { defineTool } from "callgate";
import { z } from "zod";
export const get = defineTool({ description: "Reads a note", effect: "read", input: z.object({}), handler: () => 1 });
export const picture = defineTool({ description: "Paints", effect: "read", input: z.object({}), async handler(_, context) { await context.attach({ name: "a.bin", mimeType: "application/octet-stream", bytes: new Uint8Array([0, 27, 255, 10]) }); return 1; } });
`;

test("runs ls says which tool a direct call called, and ls and show what a replay replays; read gives the bytes of a file", { timeout: 120_000 }, () => {
  const { folder, env } = createCliProject({ "tools/notes.ts": tools }, {});
  const callgate = (...words: readonly string[]) => runCommand(["--trust", ...words], { cwd: folder, env });
  const json = (...words: readonly string[]) => JSON.parse(callgate("--json", ...words).stdout) as { readonly runId: string; readonly artifacts: readonly { readonly handle: string }[] };
  callgate("call", "notes.get");
  callgate("call", "notes.nothing");
  const { runId } = json("exec", "-e", "return await tools.notes.get({})");
  callgate("runs", "replay", runId);
  const listed = callgate("runs", "ls").stdout.split("\n").slice(1, 5).map((line) => line.split(/ {2,}/).at(-1));
  expect(listed).toEqual([`replay of ${runId}`, "return await tools.notes.get({})", "call notes.nothing", "call notes.get"]);
  const all = JSON.parse(callgate("--json", "runs", "ls").stdout) as { readonly runId: string; readonly tool?: string }[];
  expect(all.map(({ tool }) => tool)).toEqual([undefined, undefined, "notes.nothing", "notes.get"]);
  expect(callgate("runs", "show", all[0]?.runId ?? "").stdout).toContain(`a replay of ${runId} with its recorded answers: nothing was called, nothing was changed`);

  const [{ handle } = { handle: "" }] = json("call", "notes.picture").artifacts;
  expect(json("read", handle)).toEqual({ name: "a.bin", mimeType: "application/octet-stream", sizeBytes: 4, base64: "ABv/Cg==" });
  expect([...spawnSync(process.execPath, [callgateBin, "--trust", "read", handle], { cwd: folder, env }).stdout]).toEqual([0, 27, 255, 10]);
});
