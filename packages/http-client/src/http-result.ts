/** Why there is no answer. */
export type HttpFailureReason =
  /** The guard, or the form of the request, forbids it. */
  | "refused"
  /** The name has no address. */
  | "unresolved"
  | "unreachable"
  /** The certificate is not one that is trusted. */
  | "certificate"
  /** There are no credentials to send. */
  | "credentials"
  | "timed_out"
  /** The caller's signal. */
  | "aborted"
  /** The connection broke. */
  | "lost"
  | "too_large"
  /** What came is no HTTP, or no body of the encoding it claims. */
  | "malformed"
  /** A redirect that is not followed. */
  | "redirect";

export interface HttpFailure {
  readonly kind: "failed";
  readonly reason: HttpFailureReason;
  /** One clause for people and models: what happened and what to do, without query, credentials and address of the host's own. */
  readonly message: string;
  /** False when the service certainly has not got the request. */
  readonly isSent: boolean;
  /** Whether the same request can work later. */
  readonly isTransient: boolean;
}

/** What a service answered, whatever the status. */
export interface HttpAnswer {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: Headers;
  /** Where it came from in the end. */
  readonly url: URL;
  /** Unpacked. What was sent as credentials is replaced by `[secret]` where the service sent it back. */
  readonly bytes: Uint8Array;
}

export type HttpResult = HttpAnswer | HttpFailure;

/** An answer whose body is still to come. */
export interface HttpStream {
  readonly kind: "streaming";
  readonly status: number;
  readonly headers: Headers;
  readonly url: URL;
  /** Unpacked pieces. Iterating rejects with `HttpFailed` where the answer breaks off or is over a bound; must be read or returned. */
  readonly body: AsyncGenerator<Uint8Array, void>;
}

/** A failure where only an exception can tell of it: while a body is read, and out of `fetch`. */
export class HttpFailed extends TypeError {
  override readonly name = "HttpFailed";
  readonly failure: HttpFailure;

  constructor(failure: HttpFailure, cause?: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}
