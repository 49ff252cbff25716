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

/**
 * `callgate init`: writes what is not there yet, never over anything. The folder is trusted when all that would be loaded of
 * it was written just now; what somebody else put there (a clone, an unpacked archive) is for a person to look at first.
 */
export function initCommand(context: CommandContext): Promise<ExitCode> {
  const folder = process.cwd();
  const { terminal, trust, options } = context;
  const existing = findConfigFile(folder);
  const hasConfig = existing !== undefined && dirname(existing) === folder;
  const hasTools = existsSync(join(folder, "tools"));
  const written = [...(hasConfig ? [] : [write(join(folder, "callgate.jsonc"), config)]), ...(hasTools ? [] : [write(join(folder, "tools", "notes.ts"), tools)])];
  if (!hasConfig && !hasTools) trust.add(folder);
  const trusted = trust.has(folder);
  const names = written.map((file) => relative(folder, file));
  if (options.json === true) terminal.out(`${JSON.stringify({ folder, written: names, trusted })}\n`);
  else {
    for (const name of names) terminal.out(`wrote ${name}\n`);
    if (names.length === 0) terminal.out("everything is there already; nothing was written\n");
    const found = [...(hasConfig ? ["a configuration"] : []), ...(hasTools ? ["tools"] : [])].join(" and ");
    const first = trusted ? "This folder is trusted. Next:" : `This folder held ${found} before, so it is not trusted yet and nothing of it is loaded. Look at it, then:\n  callgate trust`;
    terminal.err(`${first}\n  callgate search\n${hasTools ? "" : "  callgate exec -e 'return await tools.notes.get({ id: 1 })'\n"}  callgate mcp      (in your MCP client's configuration)\n`);
  }
  return Promise.resolve(exitCodes.ok);
}

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: "wx" });
  return file;
}
