import type { Gate } from "@callgate/contract";
import { createClientAsker, createMcpServer } from "@callgate/mcp-server";
import type { McpGateServer } from "@callgate/mcp-server";
import { identifierOf } from "@callgate/runtime/catalog";
import { approvalsConfig } from "../approver/approval-rules.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { watchConfigured } from "../configured-alerts.ts";
import { version } from "../version.ts";
import { alertLine } from "./alert-line.ts";
import type { CommandContext } from "./command-context.ts";
import type { ExitCode } from "./exit-codes.ts";
import { visible } from "./terminal.ts";

export interface McpServing {
  /** The one MCP server that is handed on unchanged. */
  readonly passThrough?: string;
  readonly use: (serving: { readonly server: McpGateServer; readonly gate: Gate }) => Promise<ExitCode>;
}

/** Opens the gate of a folder behind an MCP server, and closes both whatever happens. */
export async function withMcpServer({ config, folder }: LoadedConfig, context: CommandContext, { passThrough, use }: McpServing): Promise<ExitCode> {
  const asker = createClientAsker();
  return await context.withGate(
    async (gate, view) => {
      // Standard output belongs to the protocol, and nobody watches standard error of a server.
      view.close();
      const { terminal } = context;
      // Runs that wait, or whose process was lost, go on while a client is connected.
      const worker = gate.work();
      const watch = watchConfigured(gate, config.alerts, { host: { env: process.env, folder }, alert: (alert) => terminal.err(`${alertLine(alert)}\n`), fault: (message) => terminal.err(`${visible(message)}\n`) });
      const server = createMcpServer({
        gate,
        version,
        asker,
        ...(passThrough === undefined ? {} : { passThrough: identifierOf(passThrough, "namespace") }),
        elicits: approvalsConfig(config.approvals).elicitation ?? true,
        onFault: (id, fault) => terminal.err(`fault ${id}: ${faultLine(fault)}\n`),
      });
      try {
        return await use({ server, gate });
      } finally {
        await worker.stop();
        await watch?.stop();
        await server.close();
      }
    },
    // A person at the terminal that started a server is not who its clients' calls should ask.
    // Clients give a server some seconds to answer their first request: one slow source must not cost them all the others.
    { interactive: false, warm: true, readyWithinMs: 3_000, passThrough, askServerQuestion: asker.ask },
  );
}

/** One line, whatever a client sent: its garbage must not look like more lines of ours. */
export function faultLine(fault: unknown): string {
  const message = fault instanceof Error ? fault.message : String(fault);
  if (fault instanceof Error && Array.isArray((fault as { issues?: unknown }).issues)) return "a message of the client is no JSON-RPC message; it was left out";
  return visible(message.replace(/\s+/g, " ")).slice(0, 1_000);
}
