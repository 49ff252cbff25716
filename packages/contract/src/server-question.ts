import type { JsonObject } from "./json.ts";
import type { Principal } from "./principal.ts";

/** What a server behind the gate wants to know of the person whose call it works on. */
export type ServerQuestion = {
  /** Of the server. */
  readonly namespace: string;
  /** The tool that asks. Undefined where several are at work, and it does not say which. */
  readonly tool: string | undefined;
  /** The calls that it may be about: one, or all that are under way where the server does not say. Never empty. */
  readonly calls: readonly AskingCall[];
  /** The server's own words. */
  readonly message: string;
} & (
  | { readonly kind: "form"; /** Of an object with flat fields. */ readonly schema: JsonObject }
  /** A page that the person is to open. */
  | { readonly kind: "url"; readonly url: string }
);

/** A call that a question may belong to. */
export interface AskingCall {
  readonly runId: string;
  readonly callId: string;
  readonly principal: Principal;
}

/** `cancelled`: the person said nothing. */
export type ServerAnswer = { readonly kind: "given"; readonly values: JsonObject } | { readonly kind: "declined" } | { readonly kind: "cancelled" };

/**
 * Asks the person. What they answer goes to the server and nowhere else: it permits nothing. Rejects when `signal` aborts,
 * and where nobody can be asked, with the reason in words that the server may be told.
 */
export type AskServerQuestion = (question: ServerQuestion, signal: AbortSignal) => Promise<ServerAnswer>;
