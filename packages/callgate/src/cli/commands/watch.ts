import { once } from "node:events";
import { watchJournal } from "@callgate/runtime/alerts";
import type { Alert } from "@callgate/runtime/alerts";
import { alertRules, alertTeller } from "../../configured-alerts.ts";
import { alertLine } from "../alert-line.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { counted, visible } from "../terminal.ts";

export interface WatchCommandOptions {
  readonly once?: boolean;
  readonly exitOnAlert?: boolean;
  /** Minutes. */
  readonly since?: number;
}

/**
 * `callgate watch`: what of all processes of the journal a person should look at, until interrupted. 1 when there was an
 * alert; with `--once` it looks at what is there and ends.
 */
export async function watchCommand({ once: isOnce = false, exitOnAlert = false, since = isOnce ? 60 : 0 }: WatchCommandOptions, context: CommandContext): Promise<ExitCode> {
  const { config, folder } = await context.configuration();
  const alerts = config.alerts ?? {};
  const { terminal, options, signal } = context;
  const fired = new AbortController();
  let count = 0;
  const fault = (message: string): void => terminal.err(`${visible(message)}\n`);
  const alert = (found: Alert): void => {
    count += 1;
    terminal.out(options.json === true ? `${JSON.stringify(found)}\n` : `${alertLine(found)}\n`);
    if (exitOnAlert) fired.abort();
  };
  const { tell, settled } = alertTeller(alerts, { env: process.env, folder }, { alert, fault });
  return await context.withGate(
    async (gate) => {
      const watch = watchJournal(gate, { sinceMs: Date.now() - since * 60_000, rules: alertRules(alerts), onAlert: tell, onFault: fault });
      try {
        await watch.look();
        if (!isOnce && count === 0) terminal.err("watching; interrupt to stop\n");
        const ended = AbortSignal.any([signal, fired.signal]);
        if (!isOnce && !ended.aborted) await once(ended, "abort");
      } finally {
        watch.stop();
        await settled();
      }
      if (isOnce && options.json !== true) terminal.err(count === 0 ? "nothing to look at\n" : `${counted(count, "alert")}\n`);
      return count === 0 ? exitCodes.ok : exitCodes.failed;
    },
    recordOnly,
  );
}
