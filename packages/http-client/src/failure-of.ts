import { BodyFault } from "./decoded-body.ts";
import { NotConnected } from "./guarded-agent.ts";
import type { HttpFailure } from "./http-result.ts";
import type { Hop } from "./hop.ts";
import type { RequestTimer } from "./request-timer.ts";
import { shownUrl } from "./shown-url.ts";

export interface FailureScene {
  readonly timer: RequestTimer;
  readonly hop: Hop;
  readonly signal?: AbortSignal | undefined;
}

/** What was not even tried. */
export function refused(message: string, { isLater }: Pick<Hop, "isLater">): HttpFailure {
  return { kind: "failed", reason: "refused", message, isSent: isLater, isTransient: false };
}

/** Says what a request failed with. What is not known not to have been sent counts as sent. */
export function failureOf(fault: unknown, { timer, hop, signal }: FailureScene): HttpFailure {
  const where = `${hop.method} ${shownUrl(hop.url)}`;
  if (fault instanceof NotConnected) return { kind: "failed", reason: fault.reason, message: fault.message, isSent: hop.isLater, isTransient: fault.isTransient };
  const overdue = timer.overdue();
  if (overdue !== undefined) return { kind: "failed", reason: "timed_out", message: `The answer to ${where} ${overdue}`, isSent: true, isTransient: true };
  if (signal?.aborted === true || timer.signal.aborted) return { kind: "failed", reason: "aborted", message: `${where} was given up`, isSent: true, isTransient: false };
  if (fault instanceof BodyFault) return { kind: "failed", reason: fault.reason, message: `The answer to ${where} ${fault.message}`, isSent: true, isTransient: false };
  const code = codeOf(fault);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") return refused(`${where} cannot be sent in this form: ${fault instanceof Error ? fault.message : ""}`, hop);
  if (code === "UND_ERR_HEADERS_OVERFLOW" || code === "HPE_HEADER_OVERFLOW") return { kind: "failed", reason: "too_large", message: `The head of the answer to ${where} is larger than a head may be`, isSent: true, isTransient: false };
  if (code.startsWith("HPE_") || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return { kind: "failed", reason: "malformed", message: `The answer to ${where} is no HTTP that can be read (${code})`, isSent: true, isTransient: false };
  return { kind: "failed", reason: "lost", message: `The connection broke during ${where}${code === "" ? "" : ` (${code})`}`, isSent: true, isTransient: true };
}

function codeOf(fault: unknown): string {
  return fault instanceof Error && "code" in fault && typeof fault.code === "string" ? fault.code : "";
}
