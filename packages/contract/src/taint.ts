import type { Label } from "./tool-spec.ts";

/**
 * A label that reached a piece of work, and the call that brought it first. A tool's labels come with whatever it answers,
 * an error too, and stay: what a program or a model has read it cannot be made to forget.
 */
export interface TaintMark {
  readonly label: Label;
  /** Qualified name of the tool whose answer brought it; the namespace alone where a resource or prompt of the source did. */
  readonly tool: string;
  /** Absent for a resource or prompt: those are read outside of runs. */
  readonly runId?: string;
  /** Of the call in its run. */
  readonly seq?: number;
  readonly atMs: number;
}

/**
 * Where labels gather: a run, and what goes on beyond it. `task`: the same piece of work, whoever of its user's agents does
 * it; `conversation`: what one client or model has in its context; `session`: the variables and files of a sandbox session.
 */
export interface TaintScope {
  readonly kind: "run" | "task" | "conversation" | "session";
  /** Empty for a run, whose id is one of its own. */
  readonly user: string;
  readonly id: string;
}
