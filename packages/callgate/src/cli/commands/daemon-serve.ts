import { once } from "node:events";
import { CallgateError } from "@callgate/contract";
import { createDaemonRecords } from "../../daemon/daemon-records.ts";
import { serveDaemon } from "../../daemon/serve-daemon.ts";
import { completePrincipal, definedOnly, profilePrincipal } from "../../principal-input.ts";
import { faultOf } from "../../session/session-holder.ts";
import type { HolderNews } from "../../session/session-messages.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { faultLine, withMcpServer } from "../with-mcp-server.ts";

/** `callgate daemon serve ID`: what `daemon start` and `mcp --shared` start. It lives until it is stopped, or has had no client for a while. */
export async function serveDaemonCommand(daemonId: string, context: CommandContext): Promise<ExitCode> {
  const tell = (news: HolderNews<number>): void => {
    if (process.send === undefined) return;
    process.send(news);
    process.disconnect();
  };
  const records = createDaemonRecords(context.folders.state);
  try {
    const configuration = await context.configuration();
    const started = records.read(daemonId);
    if (started === undefined || process.send === undefined) throw new CallgateError("USAGE", "daemon serve is started by callgate daemon start, or by callgate mcp --shared");
    const record = { ...started, pid: process.pid };
    return await withMcpServer(configuration, context, {
      async use({ server }) {
        const daemon = await serveDaemon({
          record,
          server,
          principalOf: ({ profile, principal }) => completePrincipal({ ...profilePrincipal(configuration.config, profile), ...definedOnly(principal) }),
          onFault: (fault) => context.terminal.err(`fault daemon: ${faultLine(fault)}\n`),
        });
        try {
          records.write(daemonId, record);
          tell({ kind: "ready", view: process.pid });
          await Promise.race([daemon.ended, context.signal.aborted ? undefined : once(context.signal, "abort")]);
          // Before the socket is gone: whoever comes now starts another.
          records.remove(daemonId);
          return exitCodes.ok;
        } finally {
          await daemon.close();
        }
      },
    });
  } catch (fault) {
    tell({ kind: "fault", fault: faultOf(fault) });
    throw fault;
  }
}
