import { relative, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import { readWorkflows, suggestWorkflows, writeWorkflow } from "@callgate/runtime/workflow";
import type { SuggestedWorkflow, WorkflowSuggestions } from "@callgate/runtime/workflow";
import { workflowsFolderOf } from "../../open-gate.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { counted, visible } from "../terminal.ts";

export interface SuggestCommandOptions {
  readonly write?: string;
  readonly only?: readonly string[];
  readonly times?: number;
  readonly limit?: number;
  readonly runs?: number;
}

/** `callgate suggest [--write FOLDER]` */
export async function suggestCommand({ write, only, times, limit, runs }: SuggestCommandOptions, context: CommandContext): Promise<ExitCode> {
  if (only !== undefined && write === undefined) throw new CallgateError("USAGE", "--only says which drafts are written: name a folder with --write");
  const kept = workflowsFolderOf(await context.configuration());
  const folder = write === undefined ? undefined : resolve(write);
  const workflows = [...new Set([kept, folder])].flatMap((place) => (place === undefined ? [] : readWorkflows(place).workflows));
  return await context.withGate(async (gate) => {
    const found = await suggestWorkflows(gate, { workflows, signal: context.signal, ...(times === undefined ? {} : { minTimes: times }), ...(limit === undefined ? {} : { limit }), ...(runs === undefined ? {} : { runs }) });
    const written = folder === undefined ? { places: [], refused: [] } : await writeDrafts(found, { folder, only });
    const { terminal } = context;
    if (context.options.json === true) terminal.out(`${JSON.stringify({ looked: found.looked, suggestions: found.suggestions, ...(folder === undefined ? {} : { written: written.places, refused: written.refused }) })}\n`);
    else {
      terminal.out(render(found, context));
      for (const place of written.places) terminal.out(`${relative(process.cwd(), place)} holds a draft; read it, and run its tests with callgate workflow test once it is among the workflows\n`);
      for (const { message } of written.refused) terminal.err(`${visible(message)}\n`);
    }
    return written.refused.length === 0 ? exitCodes.ok : exitCodes.failed;
  }, { about: "told" });
}

interface Written {
  readonly places: readonly string[];
  readonly refused: readonly { readonly name: string; readonly message: string }[];
}

async function writeDrafts(found: WorkflowSuggestions, { folder, only }: { readonly folder: string; readonly only: readonly string[] | undefined }): Promise<Written> {
  const places: string[] = [];
  const refused: { name: string; message: string }[] = [];
  for (const name of only ?? found.suggestions.map((one) => one.name)) {
    try {
      places.push(writeWorkflow(folder, await found.draft(name)));
    } catch (fault) {
      if (!CallgateError.is(fault) || fault.code === "USAGE") throw fault;
      refused.push({ name, message: fault.message });
    }
  }
  return { places, refused };
}

function render({ looked, suggestions }: WorkflowSuggestions, context: CommandContext): string {
  const at = `${counted(looked.runs, "run")} with ${counted(looked.calls, "call")}`;
  if (suggestions.length === 0) return `Nothing comes often enough to be worth a workflow; looked at ${at}\n`;
  return `${suggestions.flatMap((one) => suggestionLines(one, context)).join("\n")}\nLooked at ${at}; nothing was run\n`;
}

function suggestionLines({ name, kind, tools, inputs, times, variants, saved, program, problem }: SuggestedWorkflow, { terminal: { outColors: { bold, dim, yellow } } }: CommandContext): readonly string[] {
  const what = kind === "program" ? `one program, run ${times} times` : `one chain, ${times} times`;
  const spared = [saved.calls === 0 ? "" : counted(saved.calls, "turn"), `${saved.tokens} tokens`, saved.ms < 1_000 ? "" : `${Math.round(saved.ms / 1_000)} s between calls`].filter((part) => part !== "");
  return [
    `${bold(name)} ${dim(`${what}, with ${variants} different inputs`)}`,
    `  ${tools.map(visible).join(" → ")}${inputs.length === 0 ? "" : `   inputs: ${inputs.map(visible).join(", ")}`}`,
    `  would have saved at least ${spared.join(", ")}`,
    ...(problem === undefined ? [] : [`  ${yellow("no draft")}: ${visible(problem)}`]),
    ...program.trimEnd().split("\n").map((line) => dim(`    ${visible(line)}`)),
    "",
  ];
}
