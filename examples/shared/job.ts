import { isDeepStrictEqual } from "node:util";
import type { AgentMode, AgentModel, CallgateOptions, Gate, JsonValue, ProgramLanguage, ScriptedTurn } from "callgate";
import type { Trouble } from "./trouble.ts";

/** A piece of work that an agent is given, in a world of its own that can be looked at afterwards. */
export interface Job {
  /** Of its folder. */
  readonly name: string;
  readonly task: string;
  readonly instructions?: string;
  /** How the model reaches the tools. Default `code`. */
  readonly mode?: AgentMode;
  /** Of mode `blocks`. Default: TypeScript. */
  readonly languages?: readonly ProgramLanguage[];
  /** Sets up files, databases and services, and has the gate opened in front of them. */
  open(place: JobPlace): Promise<OpenJob | CannotRun>;
}

export type JobScale = "tiny" | "small" | "full";

export interface JobPlace {
  /** Empty, the job's own, removed after it. */
  readonly folder: string;
  /** `tiny`: one of many cases of a suite. `small`: what a person waits for. `full`: the size that the README names. */
  readonly scale: JobScale;
  /** Opens the gate of the job, its own folder before all relative paths. */
  readonly openGate: (options: CallgateOptions) => Promise<Gate>;
  /** What goes wrong in this world. Default: nothing. */
  readonly trouble?: Trouble;
  /** For agents that are part of the job's world. Default: a script of the job's. */
  readonly model?: AgentModel;
}

/** What this machine lacks. */
export interface CannotRun {
  readonly missing: string;
}

export interface OpenJob {
  readonly gate: Gate;
  /** What it stands on here, where that depends on the machine. */
  readonly standsOn?: string;
  /** What the scripted model says. */
  readonly script: readonly ScriptedTurn[];
  /** The same work as one program, for a client that brings its own model. */
  readonly program: string;
  /** Looks at the world, never at what the model says of it. */
  check(): Promise<readonly Check[]> | readonly Check[];
  /** All that counts of the world, for suites of cases: read from where it is, in the same words each time. */
  state(): Promise<JsonValue> | JsonValue;
  /** Ends what was started beside the gate, once that is closed. */
  close(): Promise<void>;
}

/** One thing that has to be so when the work is done. */
export interface Check {
  readonly what: string;
  readonly ok: boolean;
  /** What there is, where it is not so. */
  readonly found: string;
}

export function checkEqual(what: string, found: unknown, expected: unknown): Check {
  return { what, ok: isDeepStrictEqual(found, expected), found: `${JSON.stringify(found)?.slice(0, 500)}, expected ${JSON.stringify(expected)?.slice(0, 500)}` };
}

/** A script of one program and what is said after it. */
export function programScript(intention: string, program: string, answer: string): readonly ScriptedTurn[] {
  return [{ text: intention, calls: [{ tool: "execute_code", input: { code: program } }] }, answer];
}
