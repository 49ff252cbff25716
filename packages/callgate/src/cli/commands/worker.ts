import { once } from "node:events";
import { watchConfigured } from "../../configured-alerts.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { createWorkerLog } from "../worker-log.ts";

/** `callgate worker`: until interrupted; runs under way are left where another worker can go on. */
export async function workerCommand({ concurrency }: { readonly concurrency?: number }, context: CommandContext): Promise<ExitCode> {
  const log = createWorkerLog(context, () => Date.now());
  const { config, folder } = await context.configuration();
  return await context.withGate(
    async (gate) => {
      gate.onEvent(log.event);
      const watch = watchConfigured(gate, config.alerts, { host: { env: process.env, folder }, alert: log.alert, fault: (message) => log.fault(new Error(message)) });
      const worker = gate.work(concurrency === undefined ? {} : { concurrency });
      context.terminal.err("working; interrupt to stop\n");
      if (!context.signal.aborted) await once(context.signal, "abort");
      await worker.stop();
      await watch?.stop();
      return exitCodes.ok;
    },
    { interactive: false, warm: true, onFault: log.fault },
  );
}
