import type { HeaderPair } from "./header-rules.ts";

/** One request on its way: what the caller asked for, as the redirects so far have changed it. */
export interface Hop {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly HeaderPair[];
  readonly body: string | Uint8Array | undefined;
  /** Whether a service has been asked before. */
  readonly isLater: boolean;
}
