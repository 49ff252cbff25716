import type { ToolChange } from "@callgate/runtime/catalog";
import { readWorkflows } from "@callgate/runtime/workflow";
import { toolChanges } from "../../history/tool-changes.ts";
import type { NamespaceChanges, ToolChanges } from "../../history/tool-changes.ts";
import { createToolHistory } from "../../history/tool-history.ts";
import { workflowsFolderOf } from "../../open-gate.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { timeOf, timeText } from "../time-of.ts";
import { counted, visible } from "../terminal.ts";

export interface DiffOptions {
  readonly since?: string;
  readonly runs?: number;
}

/** `callgate diff [NAMESPACE] --since TIME|DIGEST` */
export async function diffCommand(namespace: string | undefined, { since, runs }: DiffOptions, context: CommandContext): Promise<ExitCode> {
  const loaded = await context.configuration();
  const history = createToolHistory({ stateFolder: context.folders.state, folder: loaded.folder, nowMs: () => Date.now() });
  const folder = workflowsFolderOf(loaded);
  return await context.withGate(async (gate) => {
    const changes = await toolChanges(gate, {
      history,
      workflows: folder === undefined ? [] : readWorkflows(folder).workflows,
      signal: context.signal,
      ...(namespace === undefined ? {} : { namespace }),
      ...(since === undefined ? {} : { since: /^(?:sha256:)?[0-9a-f]{8,64}$/.test(since) ? { digest: since } : { atMs: timeOf(since, Date.now()) } }),
      ...(runs === undefined ? {} : { runs }),
    });
    const isBroken = changes.programs.length + changes.policies.length > 0 || changes.workflows.some(({ severity }) => severity === "broken");
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ ...changes, moments: Object.fromEntries(history.namespaces().map((name) => [name, history.moments(name).map(({ atMs, digest, tools }) => ({ atMs, digest, tools: tools.length }))])) })}\n`);
    else terminal.out(render(changes, context));
    return isBroken ? exitCodes.failed : exitCodes.ok;
  }, namespace === undefined ? {} : { about: [namespace] });
}

function render(changes: ToolChanges, { terminal }: CommandContext): string {
  const { bold, red, yellow } = terminal.outColors;
  const { namespaces, workflows, programs, programsThatFit, policies } = changes;
  if (namespaces.length === 0) return "Nothing has changed in the tools since then, as far as they were looked at\n";
  const lines = [
    ...namespaces.flatMap((one) => namespaceLines(one, terminal)),
    ...(workflows.length + programs.length + policies.length === 0 ? [] : [bold("What that means")]),
    ...workflows.map(({ workflow, severity, message }) => `${severity === "broken" ? red("broken ") : yellow("changed")} workflow ${workflow}: ${message.split("\n").map(visible).join("\n")}`),
    ...programs.flatMap(({ runId, runs, errors }) => [`${red("broken ")} the program of run ${runId}${runs === 1 ? "" : ` and ${counted(runs - 1, "other run")}`}`, ...errors.map(({ line, message }) => `          line ${line}: ${visible(message)}`)]),
    ...policies.map(({ ruleId, place, message }) => `${red("broken ")} rule ${visible(ruleId)}${place === ruleId ? "" : ` (${visible(place)})`}: ${visible(message)}`),
    `${counted(programs.length, "recorded program")} broken, ${programsThatFit} still fit; nothing was run`,
  ];
  return `${lines.join("\n")}\n`;
}

function namespaceLines({ namespace, from, to, changes }: NamespaceChanges, { outColors: { bold, dim } }: CommandContext["terminal"]): readonly string[] {
  return [`${bold(namespace)} ${dim(`from ${timeText(from.atMs)} (${from.digest.slice("sha256:".length, 19)}) to ${timeText(to.atMs)} (${to.digest.slice("sha256:".length, 19)})`)}`, ...changes.flatMap(changeLines), ""];
}

const signs = { added: "+", removed: "-", changed: "~", redeclared: "·" } as const;

function changeLines({ tool, kind, before, after, breaks, keeps }: ToolChange & { readonly keeps: boolean }): readonly string[] {
  const told = kind === "redeclared" ? " is described otherwise; its types are the same" : kind === "changed" && breaks.length === 0 ? " fits whoever called it before" : keeps ? " keeps its older version for those who were checked against it" : "";
  return [
    `${signs[kind]} ${tool}${told}`,
    ...(before === undefined ? [] : [`    - ${visible(before)}`]),
    ...(after === undefined ? [] : [`    + ${visible(after)}`]),
    ...(kind === "changed" ? breaks.map((one) => `    ! ${visible(one)}`) : []),
  ];
}
