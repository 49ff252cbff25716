import { resolve } from "node:path";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";

/** `callgate trust [FOLDER] [--list | --remove]` */
export function trustCommand(
  folder: string | undefined,
  options: { readonly list?: boolean; readonly remove?: boolean },
  context: CommandContext,
): Promise<ExitCode> {
  return Promise.resolve(trust(resolve(folder ?? "."), options, context));
}

function trust(path: string, options: Parameters<typeof trustCommand>[1], context: CommandContext): ExitCode {
  const { terminal, trust: store } = context;
  const json = context.options.json === true;
  if (options.list === true) {
    const folders = store.list();
    if (json) terminal.out(`${JSON.stringify(folders)}\n`);
    else if (folders.length === 0) terminal.err("No folder is trusted\n");
    else terminal.out(renderTable(["since", "folder"], folders.map((folder) => [folder.trustedAt.slice(0, 10), folder.path]), { columns: terminal.outColumns, colors: terminal.outColors }));
    return exitCodes.ok;
  }
  if (options.remove === true) {
    const removed = store.remove(path);
    terminal.out(json ? `${JSON.stringify({ path, trusted: false, removed })}\n` : removed ? `${path} is no longer trusted\n` : `${path} was not trusted itself; callgate trust --list shows what is\n`);
    return removed ? exitCodes.ok : exitCodes.failed;
  }
  store.add(path);
  terminal.out(json ? `${JSON.stringify({ path, trusted: true })}\n` : `${path} is trusted: its tools and configuration are loaded and run with your rights\n`);
  return exitCodes.ok;
}
