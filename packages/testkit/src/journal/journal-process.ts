import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** How another process opens the same store: a module with `openJournal(argument)`. */
export interface ChildOpening {
  readonly moduleUrl: string;
  readonly argument: string;
}

export interface JournalProcess {
  readonly pid: number;
  /** Resolves when the process has said `word`; rejects when it ends before. */
  said(word: string): Promise<void>;
  readonly words: readonly string[];
  /** Sends a signal and resolves once the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Resolves once the process is gone. */
  readonly gone: Promise<void>;
}

export interface JournalScenario {
  readonly name: "oneWrite" | "stream" | "many" | "spend";
  /** The word of `oneWrite` at which it stays until it is killed. */
  readonly stopAt?: string;
}

/** Starts `journal-child.ts` on a store. */
export function startJournalProcess(opening: ChildOpening, scenario: JournalScenario, runId: string): JournalProcess {
  const { name, stopAt = "" } = scenario;
  const script = fileURLToPath(new URL(`./journal-child.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url));
  const child = spawn(process.execPath, ["--no-warnings", script, opening.moduleUrl, opening.argument, name, runId, stopAt], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit").then(() => undefined);
  const words: string[] = [];
  const waiting = new Map<string, () => void>();
  createInterface({ input: child.stdout }).on("line", (word) => {
    words.push(word);
    waiting.get(word)?.();
  });
  return {
    pid: child.pid ?? -1,
    words,
    gone,
    async said(word) {
      if (words.includes(word)) return;
      const heard = new Promise<void>((resolve) => waiting.set(word, resolve));
      await Promise.race([heard, gone.then(() => Promise.reject(new Error(`The process ended before it said ${word}`)))]);
    },
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await gone;
    },
  };
}
