import type { JsonObject } from "./json.ts";

/**
 * On whose behalf something happens. It is on every run, call, event and journal row.
 *
 * `tenant` separates data that must never meet; `user` is the person or service account; `agent` the program or
 * client that acts for them; `task` groups runs that are the same piece of work submitted again.
 */
export interface Principal {
  readonly tenant: string;
  readonly user: string;
  readonly agent?: string;
  readonly task?: string;
  readonly roles: readonly string[];
  readonly claims: JsonObject;
}

/** On whose behalf somebody asks. Default: the gate's own principal. */
export interface Asker {
  readonly principal?: Principal;
}

/** Who asks, and how they stop waiting. */
export interface Caller extends Asker {
  readonly signal?: AbortSignal;
}

/** The principal of a laptop user who configured none. */
export const localPrincipal: Principal = { tenant: "local", user: "local", roles: [], claims: {} };
