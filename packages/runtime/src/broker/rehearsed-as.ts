import type { ReadyCall } from "./call.ts";

/**
 * Whether a call is rehearsed, and how. `write`: it could change something. `unreal`: it is about something that would only
 * be there had the writes before it been made, be it a read; nothing real is asked about that.
 */
export function rehearsedAs({ request: { rehearsal }, effect, args }: Pick<ReadyCall, "request" | "effect" | "args">): "write" | "unreal" | undefined {
  if (rehearsal === undefined) return undefined;
  if (rehearsal.holdsPlaceholder(args.value)) return "unreal";
  return effect === "read" ? undefined : "write";
}
