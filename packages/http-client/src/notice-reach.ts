import { ToolError } from "@callgate/contract";

/** What a source knows of its service, and whom it tells. */
export interface Reach {
  readonly closed: boolean;
  readonly listener: () => void;
  /** Why the last call did not reach the service. The next one that does clears it. */
  unreached: string | undefined;
}

/** Notices whether a service can be reached at all; any answer says that it can, also one that refuses. */
export async function noticeReach<Value>(reach: Reach, send: () => Promise<Value>): Promise<Value> {
  const before = reach.unreached;
  try {
    const value = await send();
    reach.unreached = undefined;
    return value;
  } catch (fault) {
    const isGone = ToolError.is(fault) && fault.code === "SOURCE_UNAVAILABLE";
    if (isGone) reach.unreached = fault.message;
    else if (ToolError.is(fault) && fault.code.startsWith("HTTP_")) reach.unreached = undefined;
    throw fault;
  } finally {
    if ((before === undefined) !== (reach.unreached === undefined) && !reach.closed) reach.listener();
  }
}
