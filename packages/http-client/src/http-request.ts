import type { Credentials } from "./auth/credentials.ts";
import type { HeaderPair } from "./header-rules.ts";
import type { HttpBounds } from "./http-bounds.ts";

/** One request. Nothing of it is changed on the way but what a redirect asks for. */
export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** http or https, without user and password: those are `credentials`. */
  readonly url: URL;
  /** Without those of the connection (`host`, `content-length`, `transfer-encoding`, ...): a request that has one is refused. */
  readonly headers?: readonly HeaderPair[];
  readonly body?: string | Uint8Array;
  /** Put on the request where it goes to an origin of theirs, and nowhere else. */
  readonly credentials?: Credentials;
  /** Gives the request up. */
  readonly signal?: AbortSignal;
  /** In place of the client's own. */
  readonly bounds?: Partial<HttpBounds>;
}
