import { isDeepStrictEqual } from "node:util";
import type { AgentMode, AgentModel, Gate, ProgramLanguage, ScriptedTurn } from "callgate";

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
  /** Sets up files, databases and services, and opens the gate in front of them. */
  open(place: JobPlace): Promise<OpenJob | CannotRun>;
}

export interface JobPlace {
  /** Empty, the job's own, removed after it. */
  readonly folder: string;
  /** `small`: what a test waits for. `full`: the size that the README names. */
  readonly scale: "small" | "full";
  /** For agents that are part of the job's world. Default: a script of the job's. */
  readonly model?: AgentModel;
}

/** What this machine lacks. */
export interface CannotRun {
  readonly missing: string;
}

export interface OpenJob {
  readonly gate: Gate;
  /** What the scripted model says. */
  readonly script: readonly ScriptedTurn[];
  /** The same work as one program, for a client that brings its own model. */
  readonly program: string;
  /** Looks at the world, never at what the model says of it. */
  check(): Promise<readonly Check[]> | readonly Check[];
  /** Ends what was started; the gate first. */
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
