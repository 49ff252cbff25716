import { CallgateError } from "@callgate/contract";
import type { CallTrace, Gate, JsonValue, Principal, Workflow } from "@callgate/contract";
import { inferInputs, withInputs } from "../infer-inputs.ts";
import { makeWorkflow } from "../make-workflow.ts";
import { callSessions } from "./call-sessions.ts";
import { draftManifest, draftWorkflow } from "./draft-workflow.ts";
import { findChains } from "./find-chains.ts";
import type { FoundChain } from "./find-chains.ts";

/** Calls, or a program, that came again and again and could be one workflow. */
export interface SuggestedWorkflow {
  /** A name that is free. */
  readonly name: string;
  /** `chain`: calls whose values go from one into the next. `program`: the same text but for what it was about. */
  readonly kind: "chain" | "program";
  /** In order. */
  readonly tools: readonly string[];
  readonly inputs: readonly string[];
  /** How often it came. */
  readonly times: number;
  /** With how many different inputs. */
  readonly variants: number;
  /** Newest first. */
  readonly runs: readonly string[];
  /** What calls of it in place of those on record would have spared a model. */
  readonly saved: SavedByWorkflow;
  readonly program: string;
  /** Why it cannot be drafted as it is. */
  readonly problem?: string;
}

/** From the records; for as far as they tell, at least. */
export interface SavedByWorkflow {
  /** Turns of a model that each made one call. */
  readonly calls: number;
  /** o200k tokens: of answers that only went into the next call, and of programs that were written again. */
  readonly tokens: number;
  /** Time between calls in which no tool was at work. */
  readonly ms: number;
}

export interface WorkflowSuggestions {
  /** What was looked at. */
  readonly looked: { readonly runs: number; readonly calls: number };
  /** Those that would have saved most first. */
  readonly suggestions: readonly SuggestedWorkflow[];
  /** Drafts one of them: program, manifest, and tests of what is on record. Nothing is called, and nothing written. Errors: USAGE, WORKFLOW_INVALID. */
  readonly draft: (name: string) => Promise<Omit<Workflow, "digest">>;
}

export interface SuggestOptions {
  /** How often something has to come. Default 3, at least 2. */
  readonly minTimes?: number;
  /** Default 10. */
  readonly limit?: number;
  /** Newest runs that are looked through. Default 1,000. */
  readonly runs?: number;
  /** Those there are: their names are taken, and what they do is not suggested again. */
  readonly workflows?: readonly Pick<Workflow, "manifest" | "program">[];
  readonly principal?: Principal;
  readonly signal?: AbortSignal;
}

/**
 * Looks through recorded direct calls and programs for what comes again and again with other arguments, and says what a workflow
 * of it would be and would have saved. Which answer went into which argument is found by content, as in `runs.lineage`. Nothing is run.
 *
 * Errors: `CallgateError` USAGE for numbers out of range.
 */
export async function suggestWorkflows(gate: Gate, { minTimes = 3, limit = 10, runs = 1_000, workflows = [], principal, signal }: SuggestOptions = {}): Promise<WorkflowSuggestions> {
  if (!Number.isInteger(minTimes) || minTimes < 2) throw new CallgateError("USAGE", `minTimes is a whole number from 2, not ${String(minTimes)}`);
  if (!Number.isInteger(limit) || limit < 1) throw new CallgateError("USAGE", `limit is a whole number from 1, not ${String(limit)}`);
  const asker = { ...(principal === undefined ? {} : { principal }), ...(signal === undefined ? {} : { signal }) };
  const traces = await gate.runs.traces({ ...asker, limit: runs });
  const names = new Set(workflows.map(({ manifest }) => manifest.name));
  const there = new Set(workflows.map(({ program }) => program.trim()));
  const repeated = repeatedPrograms(traces, minTimes).slice(0, limit);
  const inPrograms = new Set(repeated.flatMap(({ of }) => of.map(({ trace }) => trace.runId)));
  const chains = findChains(callSessions(traces.filter(({ runId }) => !inPrograms.has(runId))), { minTimes, limit });
  const found: readonly Found[] = [
    ...repeated.map((program) => fromProgram(gate, program, { name: nameFor(program.of[0]?.trace.calls.map(({ tool }) => tool) ?? [], names), asker })),
    ...(await Promise.all(chains.map((chain) => fromChain(gate, chain, { name: nameFor(chain.shape.steps.map(({ tool }) => tool), names), asker })))),
  ];
  const best = found.filter(({ suggestion }) => !there.has(suggestion.program.trim())).sort((a, b) => b.suggestion.saved.tokens - a.suggestion.saved.tokens || b.suggestion.saved.calls - a.suggestion.saved.calls).slice(0, limit);
  return {
    looked: { runs: traces.length, calls: traces.reduce((sum, { calls }) => sum + calls.length, 0) },
    suggestions: best.map(({ suggestion }) => suggestion),
    async draft(name) {
      const one = best.find(({ suggestion }) => suggestion.name === name);
      if (one === undefined) throw new CallgateError("USAGE", `There is no suggestion ${name}; there are ${best.map(({ suggestion }) => suggestion.name).join(", ") || "none"}`);
      return await one.draft();
    },
  };
}

interface Found {
  readonly suggestion: SuggestedWorkflow;
  readonly draft: () => Promise<Omit<Workflow, "digest">>;
}

interface Naming {
  readonly name: string;
  readonly asker: { readonly principal?: Principal; readonly signal?: AbortSignal };
}

async function fromChain(gate: Gate, chain: FoundChain, { name, asker }: Naming): Promise<Found> {
  const { shape, occurrences } = chain;
  const tools = shape.steps.map(({ tool }) => tool);
  const options = { name, description: `Drafted from ${occurrences.length} recorded chains: ${tools.join(", then ")}`, ...asker };
  const { draft, problem } = await draftManifest(gate, chain, options);
  const direct = occurrences.filter(({ kind }) => kind === "call");
  return {
    suggestion: {
      name,
      kind: "chain",
      tools,
      inputs: draft.inputs.map((input) => input.name),
      times: occurrences.length,
      variants: new Set(occurrences.map(({ values }) => JSON.stringify(values))).size,
      runs: [...new Set(occurrences.flatMap(({ steps }) => steps.map(({ runId }) => runId)))],
      saved: {
        calls: direct.length * (tools.length - 1),
        tokens: sum(direct.flatMap(({ steps }) => steps.slice(0, -1).map(({ directTokens }) => directTokens))),
        ms: sum(direct.map(({ steps }) => Math.max(0, (steps.at(-1)?.endedAtMs ?? 0) - (steps[0]?.issuedAtMs ?? 0) - sum(steps.map(({ durationMs }) => durationMs))))),
      },
      program: draft.text,
      ...(problem === undefined ? {} : { problem }),
    },
    draft: () => draftWorkflow(gate, chain, options),
  };
}

interface RepeatedProgram {
  readonly text: string;
  readonly inputs: readonly string[];
  /** Newest first. */
  readonly of: readonly { readonly trace: CallTrace; readonly values: readonly JsonValue[] }[];
}

/** Programs that are the same text but for literals that went into calls. */
function repeatedPrograms(traces: readonly CallTrace[], minTimes: number): readonly RepeatedProgram[] {
  const seen = traces.flatMap((trace) => {
    const { kind, programText, language = "typescript", calls } = trace;
    if (kind !== "program" || programText === undefined || calls.length === 0 || !["typescript", "javascript", "python"].includes(language)) return [];
    const source = { text: programText, language };
    const inputs = inferInputs(source, calls.flatMap(({ args }) => ("value" in args ? [args.value] : [])));
    return [{ key: JSON.stringify([language, withInputs(source, inputs).trim()]), text: withInputs(source, inputs), inputs, trace, values: inputs.map(({ value }) => value) }];
  });
  return [...Map.groupBy(seen, ({ key }) => key).values()].filter((group) => group.length >= minTimes).map((group) => ({ text: group[0]?.text ?? "", inputs: (group[0]?.inputs ?? []).map(({ name }) => name), of: group }));
}

function fromProgram(gate: Gate, { text, inputs, of }: RepeatedProgram, { name, asker: { principal } }: Naming): Found {
  const tools = [...new Set(of[0]?.trace.calls.map(({ tool }) => tool))];
  return {
    suggestion: {
      name,
      kind: "program",
      tools,
      inputs,
      times: of.length,
      variants: new Set(of.map(({ values }) => JSON.stringify(values))).size,
      runs: of.map(({ trace }) => trace.runId),
      saved: { calls: 0, tokens: sum(of.map(({ trace }) => trace.tokens?.program ?? 0)), ms: 0 },
      program: text,
    },
    async draft() {
      const drafts: Omit<Workflow, "digest">[] = [];
      for (const { trace } of [...new Map(of.map((one) => [JSON.stringify(one.values), one])).values()].slice(0, maxTests)) {
        drafts.push(await makeWorkflow(gate, { runId: trace.runId, name, version: "0.1.0", description: `Drafted from ${of.length} runs of one program`, ...(principal === undefined ? {} : { principal }) }));
      }
      const [first, ...others] = drafts;
      if (first === undefined) throw new CallgateError("WORKFLOW_INVALID", `No workflow ${name} can be drafted: its runs are gone`);
      return { ...first, recordings: [...first.recordings, ...others.filter(({ program }) => program === first.program).flatMap(({ recordings }) => recordings)] };
    },
  };
}

/** Runs with other inputs that become tests of a draft. */
const maxTests = 3;

const maxNameChars = 63;

function nameFor(tools: readonly string[], taken: Set<string>): string {
  const members = [...new Set(tools)].map((tool) => tool.slice(tool.indexOf(".") + 1).toLowerCase().replaceAll(/\W/g, "_"));
  const [first = "workflow", last] = [members[0], members.length > 1 ? members.at(-1) : undefined];
  const wanted = (last === undefined ? `repeat_${first}` : `${first}_then_${last}`).replace(/^[^a-z]+/, "").slice(0, maxNameChars - 3) || "workflow";
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
  taken.add(name);
  return name;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
