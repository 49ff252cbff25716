import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { ShownApproval } from "@callgate/contract";
import { argumentText, parseArguments } from "./commands/call.ts";

/** The arguments that are to be performed instead: given as JSON, or written in the person's own editor. Errors: USAGE. */
export async function editedArguments(shown: ShownApproval, given: string | undefined): Promise<unknown> {
  return parseArguments(given === undefined ? inEditor(shown) : await argumentText(given));
}

function inEditor({ args }: ShownApproval): string {
  const editor = process.env["VISUAL"] ?? process.env["EDITOR"];
  if (editor === undefined || !process.stdin.isTTY) throw new CallgateError("USAGE", "Give the arguments as JSON, @FILE or -, or set EDITOR to write them there");
  const folder = mkdtempSync(join(tmpdir(), "callgate-edit-"));
  const file = join(folder, "arguments.json");
  try {
    writeFileSync(file, `${JSON.stringify(args, undefined, 2)}\n`, { mode: 0o600 });
    // A shell, for EDITOR is a command line: "code --wait". The file's name is ours.
    const ended = spawnSync(`${editor} "${file}"`, { stdio: "inherit", shell: true });
    if (ended.status !== 0) throw new CallgateError("USAGE", `${editor} ended with ${ended.status ?? ended.signal ?? "an error"}. Nothing was answered`);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
