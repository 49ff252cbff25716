import type { CallSummary, Gate, GateEvent } from "@callgate/contract";
import ora from "ora";
import { cut, duration, visible } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

/** Shows a run while it happens: a line for each ended call, a spinner with the elapsed time for what is open. */
export interface LiveView {
  /** Takes the spinner away while something else writes, e.g. a question. */
  pause(): void;
  resume(): void;
  close(): void;
}

const silent: LiveView = { pause: () => undefined, resume: () => undefined, close: () => undefined };

/** Follows a gate's events on an interactive terminal; elsewhere it shows nothing. */
export function createLiveView(gate: Gate, terminal: Terminal): LiveView {
  if (!terminal.interactive) return silent;
  const startedAt = performance.now();
  const spinner = ora({ stream: process.stderr, discardStdin: false });
  const open = new Map<string, string>();
  let note = "checking";
  const refresh = () => {
    const calls = open.size === 0 ? note : [...open.values()].slice(0, 3).join(", ") + (open.size > 3 ? ` and ${open.size - 3} more` : "");
    spinner.text = cut(`${calls} ${terminal.colors.dim(duration(performance.now() - startedAt))}`, terminal.columns - 4);
  };
  const timer = setInterval(refresh, 200);
  const print = (line: string) => {
    spinner.clear();
    terminal.err(`${cut(line, terminal.columns)}\n`);
    spinner.render();
  };
  const aside = new Set<string>();
  const stopListening = gate.onEvent((event) => {
    if (event.kind === "run-started" && event.isVaried === true) aside.add(event.runId);
    // What is rehearsed with other placeholders is not what was asked for.
    if ("runId" in event && aside.has(event.runId)) return;
    note = follow(event, { open, print, terminal }) ?? note;
    refresh();
  });
  spinner.start();
  return {
    pause: () => void spinner.stop(),
    resume: () => void spinner.start(),
    close() {
      clearInterval(timer);
      stopListening();
      spinner.stop();
    },
  };
}

interface Following {
  readonly open: Map<string, string>;
  readonly print: (line: string) => void;
  readonly terminal: Terminal;
}

/** Takes one event in; returns the new note where it has one. */
function follow(event: GateEvent, { open, print, terminal }: Following): string | undefined {
  if (event.kind === "run-checked") return event.ok ? "running" : "rejected";
  if (event.kind === "run-progressed") return visible(event.message);
  if (event.kind === "call-started") open.set(event.callId, event.tool);
  if (event.kind === "call-progressed") open.set(event.callId, `${event.tool}: ${visible(event.message)}`);
  if (event.kind === "call-ended") {
    open.delete(event.callId);
    print(callLine(event, terminal, "code"));
  }
  return undefined;
}

/** One ended call on one line; the error's message only where nothing else tells it. */
export function callLine(
  call: Pick<Extract<GateEvent, { kind: "call-ended" }>, "tool" | "outcome" | "effectStatus" | "durationMs" | "error" | "simulated"> & Pick<CallSummary, "recorded">,
  { colors }: Pick<Terminal, "colors">,
  telling: "code" | "message" = "message",
): string {
  const mark = call.outcome === "ok" ? colors.green("✓") : call.outcome === "denied" ? colors.yellow("⊘") : colors.red("✗");
  const effect = call.simulated !== undefined ? colors.yellow(" rehearsed") : call.effectStatus === "none" ? "" : call.effectStatus === "done" ? colors.cyan(" changed") : colors.red(" effect unknown");
  const why = call.error === undefined ? "" : colors.dim(` ${call.error.code}${telling === "message" ? `: ${visible(call.error.message)}` : ""}`);
  const { recorded } = call;
  const then = recorded === undefined ? duration(call.durationMs) : `from the record${recorded.effectStatus === "none" ? "" : recorded.effectStatus === "done" ? " (changed something then)" : " (effect unknown then)"}`;
  return `${mark} ${call.tool}${effect} ${colors.dim(then)}${why}`;
}
