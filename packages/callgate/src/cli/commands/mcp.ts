import { once } from "node:events";
import { CallgateError } from "@callgate/contract";
import { createGateMetrics } from "@callgate/runtime/telemetry";
import type { McpServerConfig } from "../../config/mcp-server-schema.ts";
import { createAnswersPage } from "../../webhook/create-answers-page.ts";
import { openQuestionWebhook } from "../../webhook/open-question-webhook.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { httpClients, metricsTokenSha256 } from "../http-clients.ts";
import { faultLine, withMcpServer } from "../with-mcp-server.ts";

const defaultPort = 7423;

/** `callgate mcp [--http [PORT]]` */
export async function mcpCommand(options: { readonly http?: number | boolean; readonly token?: string; readonly passThrough?: string }, context: CommandContext): Promise<ExitCode> {
  const configuration = await context.configuration();
  const { passThrough } = options;
  if (passThrough !== undefined) checkServer(passThrough, configuration.config.mcpServers ?? {});
  const configured = options.http === undefined ? undefined : configuration;
  const clients = configured === undefined ? [] : httpClients(configured, process.env);
  const tokenSha256 = configured === undefined ? undefined : metricsTokenSha256(configured, process.env);
  return await withMcpServer(configuration, context, {
    ...(passThrough === undefined ? {} : { passThrough }),
    async use({ server, gate }) {
      const { terminal, signal } = context;
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
    },
  });
}

/** Errors: USAGE. */
function checkServer(namespace: string, servers: Readonly<Record<string, McpServerConfig>>): void {
  const names = Object.entries(servers).flatMap(([key, server]) => (server.disabled === true ? [] : [server.namespace ?? key]));
  if (!names.includes(namespace)) throw new CallgateError("USAGE", `--pass-through ${namespace}: there is no MCP server of that namespace in the configuration; there are: ${names.join(", ") || "none"}`);
}
