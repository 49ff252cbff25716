import type { NamespaceView, SourceState } from "@callgate/contract";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { visible } from "../terminal.ts";

/** `callgate sources ls`: each source with how it stands. With `connect`, once every one has answered or failed. */
export async function listSourcesCommand(given: { readonly connect?: boolean }, context: CommandContext): Promise<ExitCode> {
  return await context.withGate((gate) => {
    const { terminal, options } = context;
    const sources = gate.namespaces();
    if (options.json === true) {
      terminal.out(`${JSON.stringify({ sources, problems: gate.problems })}\n`);
      return Promise.resolve(exitCodes.ok);
    }
    if (sources.length === 0) terminal.err("There are no sources; add an MCP server or a tools folder (callgate init)\n");
    else terminal.out(renderTable(["source", "kind", "state", "tools", "what is behind it"], sources.map(rowOf), { columns: terminal.outColumns, colors: terminal.outColors }));
    // The table is cut to the terminal; what is wrong is needed in full.
    for (const problem of gate.problems) terminal.err(`${terminal.colors.yellow("note")} ${visible(problem.split("\n")[0] ?? "")}\n`);
    return Promise.resolve(exitCodes.ok);
  }, { about: "told", eagerSources: given.connect === true });
}

function rowOf(view: NamespaceView): readonly string[] {
  const { namespace, kind, state, toolCount, purpose, circuit } = view;
  const stands = circuit === undefined ? stateWords[state.kind] : "left alone (circuit breaker)";
  return [namespace, kind, stands, String(toolCount), visible(reasonOf(state) ?? purpose ?? "")];
}

const stateWords: Readonly<Record<SourceState["kind"], string>> = { connecting: "connecting", idle: "not started", ready: "ready", degraded: "degraded", auth_needed: "sign-in needed", down: "down" };

function reasonOf(state: SourceState): string | undefined {
  if (!("reason" in state)) return undefined;
  const reason = state.kind === "down" ? (state.brief ?? state.reason) : state.reason;
  return reason.split("\n")[0];
}
