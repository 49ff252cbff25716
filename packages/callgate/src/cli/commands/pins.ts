import { CallgateError } from "@callgate/contract";
import type { PinnedTool, PinStore, SourcePins } from "@callgate/contract";
import { textDiff } from "@callgate/runtime";
import { approvePins } from "@callgate/runtime/source";
import { createPinFiles } from "../../pins/pin-files.ts";
import type { PinFiles } from "../../pins/pin-files.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { counted, visible } from "../terminal.ts";
import { timeText } from "../time-of.ts";

/** `callgate pins ls`: exit code 1 where something is held. */
export async function listPinsCommand(context: CommandContext): Promise<ExitCode> {
  const { terminal, options } = context;
  const all = (await filesOf(context)).list();
  if (options.json === true) terminal.out(`${JSON.stringify(all.map(withoutDefinitions))}\n`);
  else if (all.length === 0) terminal.err("Nothing is pinned here yet: a source is pinned at its first use (callgate sources ls)\n");
  else {
    const rows = all.map((pins) => [pins.namespace, String(pins.tools.length), String(pins.held.length), String(pins.gone.length), pins.isTrusted ? "believed" : "not believed"]);
    terminal.out(renderTable(["source", "pinned", "held", "gone", "claims of effects"], rows, { columns: terminal.outColumns, colors: terminal.outColors }));
  }
  return all.some(({ held, heldIdentity }) => held.length > 0 || heldIdentity !== undefined) ? exitCodes.failed : exitCodes.ok;
}

/** `callgate pins show SOURCE` */
export async function showPinsCommand(namespace: string, context: CommandContext): Promise<ExitCode> {
  const { terminal, options } = context;
  const { pins } = await pinsOf(namespace, context);
  if (options.json === true) {
    terminal.out(`${JSON.stringify(pins)}\n`);
    return exitCodes.ok;
  }
  const held = new Set(pins.held.map(({ name }) => name));
  const known = new Set(pins.tools.map(({ name }) => name));
  const rowOf = (tool: PinnedTool, state: string): readonly string[] => [visible(tool.name), state, typeof tool.definition["effect"] === "string" ? tool.definition["effect"] : "", `${timeText(tool.atMs)}Z`, tool.digest.slice(0, 19)];
  const rows = [
    ...pins.tools.map((tool) => rowOf(tool, pins.gone.includes(tool.name) ? "gone" : held.has(tool.name) ? "changed, held" : "pinned")),
    ...pins.held.filter(({ name }) => !known.has(name)).map((tool) => rowOf(tool, "new, held")),
  ];
  terminal.out(renderTable(["tool", "state", "it says", "since", "definition"], rows, { columns: terminal.outColumns, colors: terminal.outColors }));
  if (pins.heldIdentity !== undefined) terminal.out(`${movedText}\n`);
  return exitCodes.ok;
}

/** `callgate pins diff SOURCE [TOOL...]`: exit code 1 where something is held. */
export async function diffPinsCommand(namespace: string, tools: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { terminal, options } = context;
  const { pins } = await pinsOf(namespace, context);
  const changes = changesOf(pins, tools);
  if (options.json === true) terminal.out(`${JSON.stringify({ namespace, moved: pins.heldIdentity !== undefined, changes })}\n`);
  else {
    if (pins.heldIdentity !== undefined) terminal.out(`${movedText}\n`);
    for (const { tool, kind, diff } of changes) terminal.out(`${visible(tool)}: ${kind}\n${diff === "" ? "" : `${indented(diff)}\n`}`);
    if (changes.length === 0) terminal.err("Nothing is held: all tools are as they were pinned\n");
  }
  return pins.held.length > 0 || pins.heldIdentity !== undefined ? exitCodes.failed : exitCodes.ok;
}

/** `callgate pins approve SOURCE [TOOL...]` */
export async function approvePinsCommand(namespace: string, tools: readonly string[], { trustEffects, context }: { readonly trustEffects: boolean | undefined; readonly context: CommandContext }): Promise<ExitCode> {
  const { terminal, options } = context;
  const { pins, store } = await pinsOf(namespace, context);
  const change = { ...(tools.length === 0 ? {} : { tools }), ...(trustEffects === undefined ? {} : { trust: trustEffects }) };
  const approved = pins.held.filter(({ name }) => tools.length === 0 || tools.includes(name)).map(({ name }) => name);
  // What was seen since this process looked stays held.
  store.update((now) => ({ ...approvePins(pins, change), held: [...approvePins(pins, change).held, ...(now?.held ?? []).filter((held) => !pins.held.some((one) => one.digest === held.digest))] }));
  const trust = trustEffects === undefined ? "" : `; what it says of effects is ${trustEffects ? "believed" : "not believed"}`;
  terminal.out(options.json === true ? `${JSON.stringify({ namespace, approved, ...(trustEffects === undefined ? {} : { trusted: trustEffects }) })}\n` : `${namespace}: ${counted(approved.length, "tool")} approved${approved.length === 0 ? "" : ` (${approved.map(visible).join(", ")})`}${trust}\n`);
  return exitCodes.ok;
}

const movedText = "Its command or URL is another than the one its tools were pinned with: all of its tools are held";

async function filesOf({ configuration, folders }: CommandContext): Promise<PinFiles> {
  return createPinFiles(folders.state, (await configuration()).folder);
}

/** Errors: USAGE. */
async function pinsOf(namespace: string, context: CommandContext): Promise<{ readonly pins: SourcePins; readonly store: PinStore }> {
  const files = await filesOf(context);
  const store = files.of(namespace);
  const pins = store.read();
  if (pins === undefined) {
    const names = files.list().map((one) => one.namespace);
    throw new CallgateError("USAGE", `No source "${namespace}" is pinned here; ${names.length === 0 ? "none is yet" : `pinned are: ${names.join(", ")}`}`);
  }
  return { pins, store };
}

interface PinChange {
  readonly tool: string;
  readonly kind: "changed" | "new" | "gone";
  /** Of the definitions as JSON. */
  readonly diff: string;
}

function changesOf(pins: SourcePins, only: readonly string[]): readonly PinChange[] {
  const pinned = new Map(pins.tools.map((tool) => [tool.name, tool]));
  const changes = [
    ...pins.held.map((held): PinChange => {
      const before = pinned.get(held.name);
      const same = before?.digest === held.digest;
      return { tool: held.name, kind: before === undefined ? "new" : "changed", diff: same ? "" : (textDiff(before === undefined ? "" : printed(before), printed(held))?.text ?? printed(held)) };
    }),
    ...pins.gone.map((tool): PinChange => ({ tool, kind: "gone", diff: "" })),
  ];
  return only.length === 0 ? changes : changes.filter(({ tool }) => only.includes(tool));
}

function printed({ definition }: PinnedTool): string {
  return JSON.stringify(definition, undefined, 2);
}

/** A definition is the words of a stranger: what acts in a terminal is written out. */
function indented(text: string): string {
  return text.split("\n").filter((line) => line !== "").map((line) => `  ${visible(line)}`).join("\n");
}

function withoutDefinitions({ tools, held, ...rest }: SourcePins): object {
  const bare = ({ definition: _definition, ...tool }: PinnedTool): object => tool;
  return { ...rest, tools: tools.map(bare), held: held.map(bare) };
}
