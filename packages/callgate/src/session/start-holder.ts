import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { CallgateError } from "@callgate/contract";
import type { SessionView } from "@callgate/contract";
import { errorOf } from "./session-client.ts";
import type { HolderNews } from "./session-messages.ts";

export interface StartHolderOptions {
  /** Arguments of this program that hold the session. */
  readonly args: readonly string[];
  /** What it says on standard error goes there. */
  readonly log: string;
  readonly folder: string;
}

/** Starts a process that lives on without this one, and waits until the session is open. Errors: what the holder reports. */
export async function startHolder({ args, log, folder }: StartHolderOptions): Promise<SessionView> {
  const output = openSync(log, "w", 0o600);
  const [, script = ""] = process.argv;
  // The session's arguments come last: nobody else on this machine learns more from them than its name.
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], { cwd: folder, detached: true, stdio: ["ignore", output, output, "ipc"], windowsHide: true });
  closeSync(output);
  const { promise, resolve, reject } = Promise.withResolvers<SessionView>();
  child.on("message", (news: HolderNews) => (news.kind === "ready" ? resolve(news.view) : reject(errorOf(news.fault))));
  child.once("error", reject);
  child.once("exit", (code) => reject(new CallgateError("DRIVER_FAILED", `The process that was to hold the session ended with code ${code ?? "none"} before it was open; see ${log}`)));
  try {
    return await promise;
  } finally {
    child.removeAllListeners("exit");
    if (child.connected) child.disconnect();
    child.unref();
  }
}
