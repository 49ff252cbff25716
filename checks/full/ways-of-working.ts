// The same recorded calls made by a model in several ways: one by one, all at once, or as a program; and each where it goes
// badly. A script stands in for the model, so that nothing is said about what a model would do.
import type { AgentLimits, AgentMode, JsonValue, ScriptedTurn } from "../../packages/callgate/src/index.ts";
import { createLazyTokenCounter } from "../../packages/runtime/src/index.ts";

/** Opens docs/results/tokens-of-tasks.md. */
export const tokensOfTasks = `# Tokens of tasks

What a model reads for the same work: tools called one by one, all calls in one turn (which a model can do only where no call needs
the answer of another), and one program; and each where it goes badly. A model that writes programs
looks for its tools first where they are not shown to it. The loop runs for real behind a gate; a script stands in for
the model and makes the recorded calls, so that nothing is said about what a model would do. Only what it is sent is counted, without
its provider's cache. tau-retail records little beside the calls that change something: the looking up that a model needs first, in
which programs save most, is not in it. Single catalogs: [tokens](tokens.md).`;

/** A call of the work, in its order. */
export interface WorkCall {
  readonly tool: string;
  readonly input: JsonValue;
}

/** A piece of work: its calls, and the program that makes them. */
export interface Work {
  readonly calls: readonly WorkCall[];
  /** @param returned `last`: what a model needs. `all`: all that the calls gave, as a careless model returns it */
  readonly program: (returned: "last" | "all") => string;
  /** The same program with a name in it that is not there: the check refuses it. */
  readonly wrongProgram: (attempt: number) => string;
}

interface Sent {
  readonly prompt: readonly unknown[];
  readonly tools?: readonly { readonly name: string }[] | undefined;
}

type Turn = ScriptedTurn | ((sent: Sent) => ScriptedTurn);

export interface Way {
  readonly mode: AgentMode;
  readonly limits?: Partial<AgentLimits>;
  readonly turns: (work: Work) => readonly Turn[];
}

const run = (code: string): ScriptedTurn => ({ calls: [{ tool: "execute_code", input: { code } }] });
const search = ({ tool }: WorkCall): ScriptedTurn => ({ calls: [{ tool: "search_tools", input: { query: (tool.split(".")[1] ?? tool).replaceAll("_", " ") } }] });
const details = (calls: readonly WorkCall[]): ScriptedTurn => ({ calls: [{ tool: "get_tool_details", input: { names: [...new Set(calls.map(({ tool }) => tool))].slice(0, 10) } }] });
const some = (calls: readonly WorkCall[], at: number): readonly ScriptedTurn[] => calls.slice(at, at + 1).map(search);

/** Turns that depend on whether the model is shown its tools, or has to look for them. */
function planned(plan: (looks: boolean) => readonly ScriptedTurn[]): readonly Turn[] {
  let left: ScriptedTurn[] | undefined;
  return Array.from({ length: 20 }, () => ({ tools }: Sent) => {
    left ??= [...plan((tools ?? []).some(({ name }) => name === "search_tools"))];
    return left.shift() ?? "Done.";
  });
}

/** A cursor is good for one conversation: the one that the last answer gave. */
const call = ({ tool, input }: WorkCall) => ({ prompt }: Sent): ScriptedTurn => {
  if (typeof input !== "object" || input === null || !("cursor" in input)) return { calls: [{ tool, input }] };
  const last = [...JSON.stringify(prompt).matchAll(/\\"cursor\\":\s*\\"([^"\\]+)\\"/g)].at(-1)?.[1];
  return { calls: [{ tool, input: { ...input, ...(last === undefined ? {} : { cursor: last }) } }] };
};
const broken = ({ tool }: WorkCall): ScriptedTurn => ({ calls: [{ tool, input: "{" }] });

export const ways: Readonly<Record<string, Way>> = {
  "one by one": { mode: "tools", turns: ({ calls }) => [...calls.map(call), "Done."] },
  "one by one, each third call wrong at first": { mode: "tools", turns: ({ calls }) => [...calls.flatMap((one, index): readonly Turn[] => [...(index % 3 === 0 ? [broken(one)] : []), call(one)]), "Done."] },
  "all at once": { mode: "tools", limits: { concurrentCalls: 1 }, turns: ({ calls }) => [{ calls }, "Done."] },
  program: { mode: "code", turns: ({ calls, program }) => planned((looks) => [...(looks ? [...some(calls, 0), details(calls)] : []), run(program("last"))]) },
  "program, two searches more, two that were wrong, and with all results": {
    mode: "code",
    turns: ({ calls, program, wrongProgram }) => planned((looks) => [...(looks ? [...some(calls, 0), ...some(calls, calls.length - 1), ...some(calls, Math.floor(calls.length / 2)), details(calls)] : []), run(wrongProgram(1)), run(wrongProgram(2)), run(program("all"))]),
  },
};

const counter = await createLazyTokenCounter().load();
const known = new Map<string, number>();

function counted(value: unknown): number {
  const text = JSON.stringify(value);
  const found = known.get(text) ?? counter.count(text);
  known.set(text, found);
  return found;
}

/** What a model is sent in one turn, in o200k tokens. Histories are mostly what they were a turn before, and counted once. */
export function tokensOf({ prompt, tools = [] }: Sent): number {
  return prompt.reduce<number>((sum, message) => sum + counted(message), 0) + counted(tools);
}
