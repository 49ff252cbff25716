import type { Garbage, Malformed } from "./message-reader.ts";

/** What is known about a server beyond its messages; for error texts. */
export interface ServerTrace {
  /** Last lines it wrote to stderr. None over HTTP. */
  stderr(count: number): readonly string[];
  /** Lines on stdout that were no JSON-RPC message and answered nothing, as far as one can tell. */
  garbage(): Garbage;
  /** Answers that could not be read, each of which has failed its request, and such to no request of ours. */
  malformed(): Malformed;
  /** How the process or the connection ended; undefined while it lives. */
  ended(): string | undefined;
}
