import type { JsonObject } from "@callgate/contract";
import { isRecord } from "./is-record.ts";

/** What a server wants to know of the person whose call it works on. */
export type ServerQuestion = {
  /** Of the server. */
  readonly namespace: string;
  /** The tool that asks. Undefined where several are at work, and it does not say which. */
  readonly tool: string | undefined;
  /** The server's own words. */
  readonly message: string;
} & (
  | { readonly kind: "form"; /** Of an object with flat fields. */ readonly schema: JsonObject }
  /** A page that the person is to open. */
  | { readonly kind: "url"; readonly url: string }
);

/** `cancelled`: the person said nothing. */
export type ServerAnswer = { readonly kind: "given"; readonly values: JsonObject } | { readonly kind: "declined" } | { readonly kind: "cancelled" };

/** Asks the person. What they answer goes to the server and nowhere else: it permits nothing. Rejects when `signal` aborts. */
export type AskServerQuestion = (question: ServerQuestion, signal: AbortSignal) => Promise<ServerAnswer>;

/** The part of a question that the protocol has, or undefined for what is none. */
export function readQuestion(params: unknown): { readonly message: string } & ({ readonly kind: "form"; readonly schema: JsonObject } | { readonly kind: "url"; readonly url: string }) | undefined {
  if (!isRecord(params) || typeof params["message"] !== "string") return undefined;
  const { message, mode, url, requestedSchema } = params;
  if (mode === "url") return typeof url === "string" && /^https?:\/\//.test(url) && URL.canParse(url) ? { kind: "url", message, url } : undefined;
  return isRecord(requestedSchema) ? { kind: "form", message, schema: requestedSchema as JsonObject } : undefined;
}
