import * as clack from "@clack/prompts";
import { CallgateError } from "@callgate/contract";
import type { Gate, ToolView } from "@callgate/contract";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { askForm } from "../form/ask-form.ts";
import type { FormPlace } from "../form/ask-form.ts";
import { visible } from "../terminal.ts";
import { performCall } from "./call.ts";

/** `callgate tools try [TOOL]`: a form in the terminal, the call, and the line that makes it again. */
export async function tryToolCommand(name: string | undefined, context: CommandContext): Promise<ExitCode> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CallgateError("USAGE", "A form needs a terminal; call it with callgate call TOOL '{ … }'");
  return await context.withGate(async (gate, view) => {
    const { terminal, signal } = context;
    view.pause();
    const place: FormPlace = { input: process.stdin, output: process.stderr, signal };
    const tool = name === undefined ? await chooseTool(gate, place) : toolOf(gate, name);
    if (tool === undefined) return gaveUp(context);
    const { spec } = tool;
    clack.intro(`${tool.name}  ${terminal.colors.dim(spec.effect)}`, place);
    if (spec.description !== "") clack.log.message(visible(spec.description), place);
    const args = await askForm(spec.input, place);
    if (args === undefined) return gaveUp(context);
    const again = `callgate call ${tool.name} ${shellQuoted(JSON.stringify(args))}`;
    // Beside what the policy may ask: who fills in a form may only have wanted to look.
    if (spec.effect !== "read") {
      const agreed = await clack.confirm({ ...place, message: spec.effect === "write" ? "It changes something. Call it?" : "It may destroy something. Call it?", initialValue: false });
      if (agreed !== true) return gaveUp(context, again);
    }
    clack.outro(terminal.colors.dim(visible(again)), place);
    view.resume();
    return await performCall({ gate, view, tool: tool.name, args }, {}, context);
  }, name === undefined ? {} : { about: [name] });
}

/** Errors: USAGE. */
function toolOf(gate: Gate, name: string): ToolView {
  const [tool] = gate.describe([name]);
  if (tool !== undefined) return tool;
  const near = gate.nearest(name);
  throw new CallgateError("USAGE", `No tool "${name}"${near.length === 0 ? "; callgate search lists all" : `; nearest: ${near.join(", ")}`}`);
}

async function chooseTool(gate: Gate, place: FormPlace): Promise<ToolView | undefined> {
  const tools = gate.tools();
  if (tools.length === 0) throw new CallgateError("USAGE", "There are no tools; add a source with callgate add");
  const chosen = await clack.autocomplete({ ...place, message: "Which tool? Type to find it", maxItems: 12, options: tools.map(({ name, line, spec }) => ({ value: name, label: name, hint: `${spec.effect}  ${visible(line).slice(0, 80)}` })) });
  return clack.isCancel(chosen) ? undefined : tools.find(({ name }) => name === chosen);
}

function gaveUp({ terminal }: CommandContext, again?: string): ExitCode {
  terminal.err(`nothing was called\n${again === undefined ? "" : `${terminal.colors.dim(visible(again))}\n`}`);
  return exitCodes.failed;
}

/** One word for a shell, whatever is in it. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
