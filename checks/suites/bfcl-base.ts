// The multi-turn tasks of the Berkeley function-calling leaderboard, v4 (Apache-2.0), as a suite: eight small worlds (files,
// tweets, messages, tickets, a broker, flights, a car, sums) with the 74 of their 128 tools that these tasks need, written
// anew from the tools' words and the recorded answers. Each task ends in a recorded state.
import { defineTool, functionSource } from "callgate";
import { defineEnvironment } from "callgate/eval";
import type { EvalCase, EvalSuite } from "callgate/eval";
import { z } from "zod";
import { agentData, agentTasks } from "./agent-data.ts";
import { fileMethods } from "./bfcl/files.ts";
import { carMethods, mathMethods } from "./bfcl/machines.ts";
import { tradingMethods, travelMethods } from "./bfcl/money.ts";
import { messageMethods, ticketMethods, tweetMethods } from "./bfcl/people.ts";
import type { Arguments, Drawn, Methods } from "./bfcl/world.ts";
import { caseDefaults, programOf } from "./written-calls.ts";

export interface BfclCall {
  readonly class: string;
  readonly name: string;
  readonly arguments: Arguments;
  readonly result: unknown;
}
export interface BfclTask {
  readonly id: string;
  readonly classes: readonly string[];
  readonly excluded: readonly string[] | null;
  readonly initialState: Readonly<Record<string, unknown>>;
  readonly finalState: Readonly<Record<string, unknown>>;
  readonly turns: readonly { readonly user: readonly string[]; readonly calls: readonly BfclCall[] }[];
}
interface ToolWords {
  readonly class: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What only looks. Anything else may change its world. */
const reads = /^(?:cat|diff|du|find|grep|ls|pwd|sort|tail|wc|mean|logarithm|view_|get_|list_|search_|check_|estimate_|find_|displayCarStatus|gallon_|liter_|compute_|retrieve_|verify_)/;

const givenShape = z.object({ classes: z.array(z.string()), excluded: z.array(z.string()), initialState: z.record(z.string(), z.unknown()), drawn: z.record(z.string(), z.array(z.string())) });

export const callsOf = ({ turns }: BfclTask): readonly BfclCall[] => turns.flatMap(({ calls }) => calls);

/** The tools of one world, fresh: what a call of each does. */
export function bfclWorld(task: Pick<BfclTask, "classes" | "initialState">, drawn: Drawn): { readonly methods: Readonly<Record<string, Methods>>; readonly state: Readonly<Record<string, unknown>> } {
  const state = structuredClone(task.initialState);
  const make: Readonly<Record<string, (own: never) => Methods>> = { GorillaFileSystem: fileMethods, TwitterAPI: tweetMethods, MessageAPI: (own) => messageMethods(own, drawn), TicketAPI: ticketMethods, TradingBot: tradingMethods, TravelAPI: (own) => travelMethods(own, drawn), VehicleControlAPI: carMethods, MathAPI: () => mathMethods };
  return { state, methods: Object.fromEntries(task.classes.map((name) => [name, make[name]?.(state[name] as never) ?? {}])) };
}

export function suite(): EvalSuite {
  const words = JSON.parse(agentData("bfcl-base", "tools.json")) as readonly ToolWords[];
  return {
    name: "bfcl-base",
    mode: "code",
    environment: defineEnvironment(async ({ openGate, given }) => {
      const task = givenShape.parse(given);
      const { methods, state } = bfclWorld(task, drawnFrom(task.drawn));
      const sources = Object.entries(methods).map(([namespace, own]) => functionSource({ namespace, tools: Object.entries(own).filter(([name]) => !task.excluded.includes(name)).flatMap(([name, method]) => toolOf(words.find((one) => one.class === namespace && one.name === name), method)) }));
      return { gate: await openGate({ sources, rules: [{ allow: "*" }] }), state: () => shownState(state) as never };
    }),
    cases: agentTasks<BfclTask>("bfcl-base").map(caseOf),
  };
}

function toolOf(words: ToolWords | undefined, method: Methods[string]) {
  if (words === undefined) return [];
  const { name, description, parameters } = words;
  return [defineTool({ name, description, effect: reads.test(name) ? "read" : "write", input: parameters as never, handler: (args) => method(args as Arguments) })];
}

/** When a file was changed depends on the clock of the day. */
function shownState(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item: unknown) => (key === "_last_modified" ? undefined : item)));
}

export function drawnFrom(recorded: Readonly<Record<string, readonly string[]>>): Drawn {
  const left = new Map(Object.entries(recorded).map(([what, values]) => [what, [...values]]));
  return { next: (what) => left.get(what)?.shift() ?? "1" };
}

/** Ids that the set drew, as its recorded answers show them. */
export function recordedDraws(task: BfclTask): Readonly<Record<string, readonly string[]>> {
  const of = (name: string, key: string): readonly string[] => callsOf(task).flatMap((call) => (call.name === name && typeof call.result === "object" && call.result !== null && key in call.result ? [String((call.result as Readonly<Record<string, unknown>>)[key])] : []));
  const messages = callsOf(task).flatMap(({ name, result }) => (name === "send_message" ? [String((result as { readonly message_id?: { readonly new_id?: number } } | null)?.message_id?.new_id)] : []));
  return { message: messages, booking: of("book_flight", "booking_id"), transaction: of("book_flight", "transaction_id"), insurance: of("purchase_insurance", "insurance_id"), token: of("authenticate_travel", "access_token") };
}

function caseOf(task: BfclTask): EvalCase {
  const { id, classes, excluded, initialState, finalState, turns } = task;
  const calls = callsOf(task);
  const written = calls.map((call) => ({ name: `${call.class}.${call.name}`, arguments: call.arguments }));
  const spelled = (name: string): string => `tools.${name}`;
  const changes = JSON.stringify(shownState(initialState)) !== JSON.stringify(shownState(finalState));
  const drawsBalance = calls.some(({ name }) => name === "register_credit_card");
  return {
    ...caseDefaults,
    id,
    kind: "normal-flow",
    tags: classes,
    task: turns.map(({ user }) => user.join("\n")).join("\n\n"),
    given: { classes, excluded: excluded ?? [], initialState, drawn: recordedDraws(task) } as never,
    effects: { allowed: [...new Set(written.map(({ name }) => name))], forbidden: [] },
    state: [{ path: "", equals: shownState(finalState) as never }],
    calls: changes ? [] : [...new Set(written.map(({ name }) => name))].map((tool) => ({ tool, outcome: "ok" as const })),
    work: { program: programOf(written, spelled) },
    mustFail: changes ? [{ program: programOf(written.slice(0, firstChange(written)), spelled) }] : [],
    ...(drawsBalance ? { skip: "the set draws the balance of a new card at random and shows it nowhere but in the end" } : {}),
  };
}

/** Where the first call stands that may change anything. */
function firstChange(calls: readonly { readonly name: string }[]): number {
  return Math.max(1, calls.findIndex(({ name }) => !reads.test(name.split(".")[1] ?? "")));
}
