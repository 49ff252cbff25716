import { HttpFailed } from "@callgate/http-client";
import { InsufficientScopeError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";

/** What an error of HTTP says of a request that had no answer of the protocol. */
export interface HttpFailure {
  /** `session`: the server does not know our session any more. `refused`, `broken`: by a status below 500, by one from 500 on. */
  readonly kind: "sign_in" | "session" | "refused" | "broken" | "network";
  /** A clause: `answered with HTTP 503`. */
  readonly what: string;
  /** The server did not begin with it, for certain. */
  readonly notApplied: boolean;
  /** The same request can work later. */
  readonly isTransient: boolean;
  /** What the token must also be good for, where it is the token that does not suffice. */
  readonly scope?: string;
}

/** Thrown where a token is needed and there is none, or none that counts. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

const shownChars = 200;

/** Undefined for what is no failure of HTTP: an answer of the protocol, a deadline, an abort. */
export function readHttpFailure(error: unknown, hasSession: boolean): HttpFailure | undefined {
  const chain = causesOf(error);
  const signIn = chain.find((one) => one instanceof SignInNeeded || one instanceof UnauthorizedError);
  if (signIn !== undefined) return { kind: "sign_in", what: signIn instanceof SignInNeeded ? signIn.message : "needs somebody to sign in", notApplied: true, isTransient: false };
  const scant = chain.find((one): one is InsufficientScopeError => one instanceof InsufficientScopeError);
  if (scant !== undefined) return { kind: "refused", what: `wants more rights than somebody signed in with${scant.requiredScope === undefined ? "" : ` (${scant.requiredScope.slice(0, 200)})`}`, notApplied: true, isTransient: false, ...(scant.requiredScope === undefined ? {} : { scope: scant.requiredScope }) };
  const answered = chain.find((one): one is SdkHttpError => one instanceof SdkHttpError);
  if (answered !== undefined) return byStatus(answered, hasSession);
  if (chain.some((one) => one instanceof SdkError && one.code !== SdkErrorCode.EraNegotiationFailed)) return undefined;
  // What a fetch rejects with for anything that is no answer.
  const network = chain.find((one) => one instanceof TypeError);
  if (network === undefined) return undefined;
  const { message, isSent, isTransient } = network instanceof HttpFailed ? network.failure : { message: network.message, isSent: true, isTransient: true };
  return { kind: "network", what: `could not be reached: ${message}`, notApplied: !isSent, isTransient };
}

function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one: unknown = error; one instanceof Error && chain.length < 8; one = one.cause) chain.push(one);
  return chain;
}

function byStatus({ status, message }: SdkHttpError, hasSession: boolean): HttpFailure {
  // 404 is how a session that ended is told; servers made with older SDKs say it with a 400.
  if (hasSession && (status === 404 || (status === 400 && /session/i.test(message)))) return { kind: "session", what: "does not know the session any more", notApplied: true, isTransient: true };
  if (status === 401) return { kind: "sign_in", what: "asks for credentials (HTTP 401)", notApplied: true, isTransient: false };
  const said = message.replace(/^Error POSTing to endpoint:?/, "").replace(/\s+/g, " ").trim();
  const what = `answered with HTTP ${status}${said === "" ? "" : `: ${said.length > shownChars ? `${said.slice(0, shownChars).toWellFormed()}…` : said}`}`;
  return status >= 500 ? { kind: "broken", what, notApplied: false, isTransient: true } : { kind: "refused", what, notApplied: true, isTransient: status === 429 };
}
