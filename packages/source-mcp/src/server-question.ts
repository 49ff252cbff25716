import type { JsonObject } from "@callgate/contract";
import { isRecord } from "./is-record.ts";

/** The part of a question that the protocol has, or undefined for what is none. */
export function readQuestion(params: unknown): { readonly message: string } & ({ readonly kind: "form"; readonly schema: JsonObject } | { readonly kind: "url"; readonly url: string }) | undefined {
  if (!isRecord(params) || typeof params["message"] !== "string") return undefined;
  const { message, mode, url, requestedSchema } = params;
  if (mode === "url") return typeof url === "string" && /^https?:\/\//.test(url) && URL.canParse(url) ? { kind: "url", message, url } : undefined;
  return isRecord(requestedSchema) ? { kind: "form", message, schema: requestedSchema as JsonObject } : undefined;
}
