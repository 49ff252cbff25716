import { decodeValue, defaultLimits, encodeValue } from "@callgate/contract";
import type { GuestBlock, GuestCall, GuestCompletion, GuestEnd, GuestError, GuestHost, GuestJob, GuestOutput, GuestRun, GuestSession, RunLimits, SandboxDriver } from "@callgate/contract";
import type { DriverWorld } from "./driver-case.ts";
import type { Dialect, ProgramName } from "./programs.ts";
import { languageOfDialect, programIn } from "./programs.ts";

/** A tool of the harness. What it throws crosses as a ToolError with the thrown object's `code` and `message`. */
export type HarnessTool = (args: unknown) => unknown;

export interface HarnessOptions {
  /** By qualified name, `namespace.tool`. Default: `demo.echo`, which gives its arguments back. */
  readonly tools?: Readonly<Record<string, HarnessTool>>;
  readonly limits?: Partial<RunLimits>;
  readonly seed?: string;
  readonly startMs?: number;
  /** True: calls are collected and answered by the test. Timers too. */
  readonly byHand?: boolean;
  /** True: the guest is not told which tools the namespaces have. */
  readonly open?: boolean;
}

/** A guest under a scripted host. */
export interface HarnessRun {
  readonly run: GuestRun;
  readonly ended: Promise<GuestEnd>;
  /** Everything issued so far. */
  readonly calls: readonly GuestCall[];
  readonly outputs: readonly GuestOutput[];
  /** Every `delivered` of onBlocked. */
  readonly blocked: readonly number[];
  /** Calls that arrived after the end: there must never be one. */
  readonly lateCalls: readonly GuestCall[];
  /** Resolves when at least `count` calls were issued. */
  issued(count: number): Promise<void>;
  answer(seq: number, value: unknown, atMs?: number): void;
}

export const defaultSeed = "00112233445566778899aabbccddeeff";
export const defaultStartMs = 1_700_000_000_000;

/** The executable text of a program, as a checker would return it. The body starts on line 2. */
export function programText(body: string): string {
  return `(async ($callgate) => { "use strict";\n${body}\n})`;
}

export function jobFor(body: string, options: HarnessOptions = {}): GuestJob {
  return jobOf({ language: "javascript", code: programText(body) }, options);
}

function jobOf({ language, code }: Pick<GuestJob, "language" | "code">, options: HarnessOptions): GuestJob {
  const names = Object.keys(options.tools ?? { "demo.echo": 0 }).map((name) => name.split("."));
  const namespaces = [...new Set(names.map(([namespace = ""]) => namespace))];
  const isOpen = options.open === true ? { open: true as const } : {};
  const modules = namespaces.map((namespace) => ({ namespace, tools: options.open === true ? [] : names.filter((name) => name[0] === namespace).map((name) => name[1] ?? ""), ...isOpen }));
  return {
    runId: "run-1",
    language,
    code,
    modules,
    modulesDigest: JSON.stringify(modules),
    seed: options.seed ?? defaultSeed,
    startMs: options.startMs ?? defaultStartMs,
    limits: { ...defaultLimits, ...options.limits },
  };
}

/** Runs the body of a JavaScript program. Tools answer at once, timers after their delay; each completion is a millisecond later than the last. */
export function startProgram(driver: SandboxDriver, body: string, options: HarnessOptions = {}): HarnessRun {
  return startJob(driver, jobFor(body, options), options);
}

/** Runs a text as it is. */
export function startText(driver: SandboxDriver, program: Pick<GuestJob, "language" | "code">, options: HarnessOptions = {}): HarnessRun {
  return startJob(driver, jobOf(program, options), options);
}

/** Runs a program of the table. */
export function startNamed({ driver, dialect }: DriverWorld, name: ProgramName, options: HarnessOptions = {}): HarnessRun {
  const text = programIn(dialect, name) ?? "";
  const language = languageOfDialect[dialect];
  return startJob(driver, jobOf({ language, code: language === "javascript" ? programText(text) : text }, options), options);
}

/** Runs a block of the table in a session. Its text is the whole text, in JavaScript too. */
export function startBlock({ session, dialect }: { readonly session: GuestSession; readonly dialect: Dialect }, name: ProgramName, options: HarnessOptions = {}): HarnessRun & { readonly block: GuestBlock } {
  const started: GuestBlock[] = [];
  const starter: Starter = {
    start(job, host) {
      const block = session.start(job, host);
      started.push(block);
      return block;
    },
  };
  const run = startJob(starter, jobOf({ language: languageOfDialect[dialect], code: programIn(dialect, name) ?? "" }, options), options);
  const [block] = started;
  if (block === undefined) throw new Error("the block was not started");
  return { ...run, block };
}

/** The value a program of the table returned. Throws when it ended otherwise. */
export async function valueOfNamed(world: DriverWorld, name: ProgramName, options: HarnessOptions = {}): Promise<unknown> {
  const end = await startNamed(world, name, options).ended;
  if (end.kind !== "returned") throw new Error(`${name} ended ${JSON.stringify(end)}`);
  return decodeValue(end.value);
}

/** The line of the executed text that a line of a table's program is. */
export function lineOf({ dialect }: DriverWorld, line: number): number {
  return languageOfDialect[dialect] === "javascript" ? line + 1 : line;
}

/** All that was printed on one level, or on all. */
export function printed({ outputs }: HarnessRun, level?: "log" | "error"): string {
  return outputs.flatMap((output) => (output.kind === "console" && (level === undefined || output.entry.level === level) ? [output.entry.text] : [])).join("\n");
}

/** What a guest can be started by: a driver, or a session. */
interface Starter {
  start(job: GuestJob, host: GuestHost): GuestRun;
}

function startJob(driver: Starter, job: GuestJob, options: HarnessOptions): HarnessRun {
  const tools = options.tools ?? { "demo.echo": (args) => args };
  const calls: GuestCall[] = [];
  const lateCalls: GuestCall[] = [];
  const outputs: GuestOutput[] = [];
  const blocked: number[] = [];
  const waiters: { readonly count: number; readonly resolve: () => void }[] = [];
  let isEnded = false;
  let atMs = options.startMs ?? defaultStartMs;
  const complete = (seq: number, result: GuestCompletion["result"], time?: number): void => {
    atMs = time ?? atMs + 1;
    run.deliver([{ seq, atMs, result }]);
  };
  const perform = async (call: GuestCall): Promise<void> => {
    if (call.kind === "timer") {
      await new Promise((resolve) => setTimeout(resolve, call.delayMs));
      return complete(call.seq, { kind: "value", value: encodeValue(undefined) });
    }
    const tool = tools[call.kind === "tool" ? call.tool : `builtin.${call.name}`];
    try {
      if (tool === undefined) throw Object.assign(new Error("No such tool"), { code: "TOOL_NOT_FOUND" });
      const value = encodeValue(await tool(decodeValue(call.args)));
      complete(call.seq, { kind: "value", value });
    } catch (thrown) {
      complete(call.seq, { kind: "error", error: toolError(thrown, call.kind === "tool" ? call.tool : call.name) });
    }
  };
  const run = driver.start(job, {
    onCalls(issued) {
      (isEnded ? lateCalls : calls).push(...issued);
      for (const waiter of waiters.filter(({ count }) => calls.length >= count)) waiter.resolve();
      if (options.byHand === true) return;
      for (const call of issued) perform(call).catch(() => {});
    },
    onOutput: (output) => {
      outputs.push(...output);
    },
    onBlocked: (delivered) => {
      blocked.push(delivered);
    },
  });
  const ended = run.ended.then((end) => {
    isEnded = true;
    return end;
  });
  return {
    run,
    ended,
    calls,
    outputs,
    blocked,
    lateCalls,
    issued: (count) => (calls.length >= count ? Promise.resolve() : new Promise((resolve) => waiters.push({ count, resolve }))),
    answer: (seq, value, time) => complete(seq, { kind: "value", value: encodeValue(value) }, time),
  };
}

function toolError(thrown: unknown, tool: string): GuestError {
  const { code = "TOOL_FAILED", message = "failed", retryable = false, details } = thrown as { code?: string; message?: string; retryable?: boolean; details?: unknown };
  return { name: "ToolError", code, message, tool, retryable, ...(details === undefined ? {} : { details: encodeValue(details) }) };
}

/** The value a program returned. Throws when it ended otherwise. */
export async function valueOf(driver: SandboxDriver, body: string, options: HarnessOptions = {}): Promise<unknown> {
  const end = await startProgram(driver, body, options).ended;
  if (end.kind !== "returned") throw new Error(`The program ended ${JSON.stringify(end)}`);
  return decodeValue(end.value);
}
