import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { CallgateError } from "@callgate/contract";
import { errorOf } from "./session-client.ts";
import type { HolderNews } from "./session-messages.ts";

export interface StartHolderOptions {
  /** Arguments of this program, for what is to live on. */
  readonly args: readonly string[];
  /** What it says on standard error goes there. */
  readonly log: string;
  readonly folder: string;
}

/** Starts a process that lives on without this one, and waits until it says that it is ready. Errors: what it reports. */
export async function startHolder<View>({ args, log, folder }: StartHolderOptions): Promise<View> {
  const output = openSync(log, "w", 0o600);
  const [, script = ""] = process.argv;
  // What the process needs beside its name is in its record: nobody else on this machine learns it from the arguments.
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], { cwd: folder, detached: true, stdio: ["ignore", output, output, "ipc"], windowsHide: true });
  closeSync(output);
  const { promise, resolve, reject } = Promise.withResolvers<View>();
  child.on("message", (news: HolderNews<View>) => (news.kind === "ready" ? resolve(news.view) : reject(errorOf(news.fault))));
  child.once("error", reject);
  child.once("exit", (code) => reject(new CallgateError("DRIVER_FAILED", `The process that was started ended with code ${code ?? "none"} before it was ready; see ${log}`)));
  try {
    return await promise;
  } finally {
    child.removeAllListeners("exit");
    if (child.connected) child.disconnect();
    child.unref();
  }
}
