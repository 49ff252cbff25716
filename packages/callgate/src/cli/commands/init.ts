import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { findConfigFile } from "../../config/load-config.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";

const config = `{
  // MCP servers, as other clients write them. Example:
  // "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] }
  "mcpServers": {},

  // Who may call what. Without a rule, tools that only read are allowed and everything else asks;
  // where nobody can answer, it is denied. See docs/guide/policy.md.
  "rules": [
    // { "allow": "notes.add" }
  ]
}
`;

const tools = `import { defineTool, ToolError } from "callgate";
import { z } from "zod";

const notes = [{ id: 1, text: "Programs import tools; every call passes one gate" }];

export const add = defineTool({
  description: "Keep a note",
  effect: "write",
  input: z.object({ text: z.string().min(1) }),
  output: z.object({ id: z.number() }),
  handler({ text }) {
    const id = notes.length + 1;
    notes.push({ id, text });
    return { id };
  },
});

export const get = defineTool({
  description: "Read a note by its id",
  effect: "read",
  input: z.object({ id: z.number().int() }),
  output: z.object({ id: z.number(), text: z.string() }),
  errors: [{ code: "NOTE_NOT_FOUND", description: "There is no note with that id" }],
  handler({ id }) {
    const note = notes.find((candidate) => candidate.id === id);
    if (note === undefined) throw new ToolError({ code: "NOTE_NOT_FOUND", message: \`No note \${id}\`, notApplied: true });
    return note;
  },
});
`;

/** `callgate init`: writes what is not there yet, never over anything, and trusts the folder it wrote. */
export function initCommand(context: CommandContext): Promise<ExitCode> {
  const folder = process.cwd();
  const existing = findConfigFile(folder);
  const written: string[] = [];
  if (existing === undefined || dirname(existing) !== folder) written.push(write(join(folder, "callgate.jsonc"), config));
  if (!existsSync(join(folder, "tools"))) written.push(write(join(folder, "tools", "notes.ts"), tools));
  context.trust.add(folder);
  const names = written.map((file) => relative(folder, file));
  if (context.options.json === true) context.terminal.out(`${JSON.stringify({ folder, written: names })}\n`);
  else {
    for (const name of names) context.terminal.out(`wrote ${name}\n`);
    if (names.length === 0) context.terminal.out("everything is there already; nothing was written\n");
    context.terminal.err("This folder is trusted now. Next:\n  callgate search\n  callgate exec -e 'return await tools.notes.get({ id: 1 })'\n  callgate mcp      (in your MCP client's configuration)\n");
  }
  return Promise.resolve(exitCodes.ok);
}

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: "wx" });
  return file;
}
