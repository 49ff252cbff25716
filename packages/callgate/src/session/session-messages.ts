import type { ApprovalQuestion, Lane, RunLimits, SessionView, WireValue } from "@callgate/contract";

// What a command and the process that holds a session say to each other, as JSON over HTTP on a socket of this user.

/** Body of POST /run. */
export interface RunMessage {
  readonly program: string;
  readonly lane?: Lane;
  readonly budgetTokens?: number;
  readonly taskId?: string;
  readonly limits?: Partial<RunLimits>;
  /** True where a person is at the command and can be asked. */
  readonly canAsk: boolean;
}

/** A line of the answer to POST /run: questions as they come up, and the end. */
export type RunLine =
  | { readonly kind: "ask"; readonly question: ApprovalQuestion }
  /** The `RunResult` as the value codec writes it: values that JSON does not have come through. */
  | { readonly kind: "result"; readonly result: WireValue }
  | { readonly kind: "fault"; readonly fault: FaultMessage };

/** A `CallgateError`, or another fault, of the holder. */
export interface FaultMessage {
  readonly code: string;
  readonly message: string;
}

/** Answer of every other request. */
export type StateLine = { readonly kind: "state"; readonly view: SessionView } | { readonly kind: "fault"; readonly fault: FaultMessage };

/** What a holder tells the command that started it, once. */
export type HolderNews<View = SessionView> = { readonly kind: "ready"; readonly view: View } | { readonly kind: "fault"; readonly fault: FaultMessage };
