import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EditResult, Gate, NewCall, Recording, RecordingEnd, RecordingTool, Source, Tool } from "@callgate/contract";
import { CallgateError, ToolError } from "@callgate/contract";
import { modelView } from "@callgate/runtime";
import { createCallgate } from "../create-callgate.ts";

export interface ReplayRecordingOptions {
  /** In place of the recorded program: a changed one, with the recorded answers. */
  readonly program?: string;
}

/** What a program did with recorded answers. Plain JSON, to be compared as a whole. */
export interface ReplayedRecording extends RecordingEnd {
  /** Tools it called, in issue order; each with arguments that the recording has. */
  readonly calls: readonly string[];
  /** Recorded calls it did not make. */
  readonly unused: readonly string[];
  /** The first call that the recording has no answer for: the program was stopped there. */
  readonly newCall?: NewCall;
}

/** More than any recording holds. */
const budgetTokens = 10_000_000;

/**
 * Executes the program of a recording, or a changed one, with the recorded answers: checked against the types of its
 * tools, in the sandbox, through a gate whose tools have no code. No journal, network or database is reached beside a
 * temporary folder of its own.
 *
 * Errors: `CallgateError` RECORDING_INVALID for what is no recording, and for a program that the check refuses (with what
 * is wrong); USAGE where nothing here runs its language.
 */
export async function replayRecording(recording: Recording, options: ReplayRecordingOptions = {}): Promise<ReplayedRecording> {
  const stateFolder = mkdtempSync(join(tmpdir(), "callgate-recording-"));
  try {
    const gate = await createCallgate({ stateFolder, sources: sourcesOf(recording), rules: [{ allow: "*" }] });
    try {
      await gate.ready();
      return await replayIn(gate, recording, options);
    } finally {
      await gate.close();
    }
  } finally {
    rmSync(stateFolder, { recursive: true, force: true });
  }
}

async function replayIn(gate: Gate, recording: Recording, { program }: ReplayRecordingOptions): Promise<ReplayedRecording> {
  const edited = await gate.runs.edit(recording, { budgetTokens, ...(program === undefined ? {} : { program }) });
  const { result, newCall, unused } = edited;
  if (result.status === "rejected") {
    const wrong = result.diagnostics.filter(({ severity }) => severity === "error").map(({ line, column, message }) => `${line}:${column} ${message}`);
    throw new CallgateError("RECORDING_INVALID", `The program was refused by the check:\n${wrong.join("\n")}`);
  }
  return {
    status: result.status,
    ...valueOf(edited),
    ...(result.error === undefined ? {} : { errorCode: result.error.code }),
    console: result.console.map(({ text }) => text),
    text: result.text,
    calls: result.calls.map(({ tool }) => tool),
    unused: unused.map(({ tool }) => tool),
    ...(newCall === undefined ? {} : { newCall }),
  };
}

function valueOf({ result: { value } }: EditResult): Pick<RecordingEnd, "value"> {
  return value === undefined ? {} : { value: value.kind === "whole" ? modelView(value.value) : value.outline };
}

/** The recorded tools without code: what reaches one is a fault. */
function sourcesOf({ tools }: Recording): readonly Source[] {
  const byNamespace = Map.groupBy(tools, ({ name }) => name.slice(0, name.indexOf(".")));
  return [...byNamespace].map(([namespace, members]): Source => ({
    namespace,
    kind: "functions",
    state: { kind: "ready" },
    list: () => Promise.resolve({ tools: members.map(({ name, ...declared }) => ({ claimed: false, tool: toolOf({ ...declared, name: name.slice(namespace.length + 1) }) })), problems: [] }),
    call: (name) => refuse(name),
    onChange: () => undefined,
    close: () => Promise.resolve(),
  }));
}

function toolOf({ name, description, effect, input, output, paged }: RecordingTool): Tool {
  return { name, description, effect, input, ...(output === undefined ? {} : { output }), ...(paged === undefined ? {} : { paged }), tags: [], permissions: [], labels: [], version: "1", timeoutMs: 5_000, examples: [], errors: [], handler: () => refuse(name) };
}

function refuse(name: string): Promise<never> {
  return Promise.reject(new ToolError({ code: "NOT_RECORDED", message: `${name} is part of a recording and has no code`, notApplied: true }));
}
