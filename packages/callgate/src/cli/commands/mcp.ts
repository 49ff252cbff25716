import { once } from "node:events";
import { CallgateError } from "@callgate/contract";
import { createClientAsker, createMcpServer } from "@callgate/mcp-server";
import { identifierOf } from "@callgate/runtime/catalog";
import { createGateMetrics } from "@callgate/runtime/telemetry";
import { approvalsConfig } from "../../approver/approval-rules.ts";
import { watchConfigured } from "../../configured-alerts.ts";
import type { McpServerConfig } from "../../config/mcp-server-schema.ts";
import { version } from "../../version.ts";
import { createAnswersPage } from "../../webhook/create-answers-page.ts";
import { openQuestionWebhook } from "../../webhook/open-question-webhook.ts";
import { alertLine } from "../alert-line.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { httpClients, metricsTokenSha256 } from "../http-clients.ts";
import { visible } from "../terminal.ts";

const defaultPort = 7423;

/** `callgate mcp [--http [PORT]]` */
export async function mcpCommand(options: { readonly http?: number | boolean; readonly token?: string; readonly passThrough?: string }, context: CommandContext): Promise<ExitCode> {
  const configuration = await context.configuration();
  const { passThrough } = options;
  if (passThrough !== undefined) checkServer(passThrough, configuration.config.mcpServers ?? {});
  const configured = options.http === undefined ? undefined : configuration;
  const clients = configured === undefined ? [] : httpClients(configured, process.env);
  const tokenSha256 = configured === undefined ? undefined : metricsTokenSha256(configured, process.env);
  const asker = createClientAsker();
  return await context.withGate(
    async (gate, view) => {
      // Standard output belongs to the protocol, and nobody watches standard error of a server.
      view.close();
      const { terminal, signal } = context;
      // Runs that wait, or whose process was lost, go on while a client is connected.
      const worker = gate.work();
      const watch = watchConfigured(gate, configuration.config.alerts, { host: { env: process.env, folder: configuration.folder }, alert: (alert) => terminal.err(`${alertLine(alert)}\n`), fault: (message) => terminal.err(`${visible(message)}\n`) });
      const server = createMcpServer({
        gate,
        version,
        asker,
        ...(passThrough === undefined ? {} : { passThrough: identifierOf(passThrough, "namespace") }),
        elicits: approvalsConfig(configuration.config.approvals).elicitation ?? true,
        onFault: (id, fault) => terminal.err(`fault ${id}: ${faultLine(fault)}\n`),
      });
      try {
        const interrupted = signal.aborted ? Promise.resolve() : once(signal, "abort");
        if (options.http === undefined) {
          await Promise.race([server.serveStdio().closed, interrupted]);
          return exitCodes.ok;
        }
        const metrics = tokenSha256 === undefined ? {} : { metrics: { ...(await createGateMetrics(gate)), tokenSha256 } };
        const taken = openQuestionWebhook(configuration.config.approvals, { env: process.env, folder: configuration.folder })?.answers;
        const answers = taken === undefined ? {} : { answers: createAnswersPage(gate, taken, (fault) => terminal.err(`fault answers: ${faultLine(fault)}\n`)) };
        const token = options.token ?? process.env["CALLGATE_MCP_TOKEN"];
        const endpoint = await server.serveHttp({ port: typeof options.http === "number" ? options.http : defaultPort, clients, ...metrics, ...answers, ...(token === undefined ? {} : { token }) });
        terminal.err(`MCP at ${endpoint.url}\n${token === undefined ? `Authorization: Bearer ${endpoint.token}\n` : ""}`);
        await interrupted;
        return exitCodes.ok;
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

/** Errors: USAGE. */
function checkServer(namespace: string, servers: Readonly<Record<string, McpServerConfig>>): void {
  const names = Object.entries(servers).flatMap(([key, server]) => (server.disabled === true ? [] : [server.namespace ?? key]));
  if (!names.includes(namespace)) throw new CallgateError("USAGE", `--pass-through ${namespace}: there is no MCP server of that namespace in the configuration; there are: ${names.join(", ") || "none"}`);
}

/** One line, whatever a client sent: its garbage must not look like more lines of ours. */
function faultLine(fault: unknown): string {
  const message = fault instanceof Error ? fault.message : String(fault);
  if (fault instanceof Error && Array.isArray((fault as { issues?: unknown }).issues)) return "a message of the client is no JSON-RPC message; it was left out";
  return visible(message.replace(/\s+/g, " ")).slice(0, 1_000);
}
