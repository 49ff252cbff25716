import { connect } from "node:net";
import type { Socket } from "node:net";
import { writeTarget } from "@callgate/http-client/network";
import type { Target } from "@callgate/http-client/network";
import type { Refusal, Way } from "./way.ts";

export type Connected = { readonly kind: "connected"; readonly socket: Socket } | ({ readonly kind: "refused" } & Refusal);

const connectMs = 15_000;

/**
 * Decides about a target and connects to exactly the addresses that were decided about, one after the other: no name is
 * looked up again. Never rejects. Records what it refuses.
 */
export async function connectTo({ policy, record }: Way, target: Target): Promise<Connected> {
  if (!record.admits(target)) return { kind: "refused", status: 429, message: "this program opened as many connections as a program may" };
  const verdict = await policy(target);
  if (verdict.kind === "denied") {
    record.deny(target, verdict.rule);
    return { kind: "refused", status: 403, message: verdict.message };
  }
  if (verdict.kind === "allowed") {
    for (const address of verdict.addresses) {
      const socket = await connectOnce(address, target.port);
      if (socket !== undefined) return { kind: "connected", socket };
    }
  }
  record.deny(target, "unreachable");
  return { kind: "refused", status: 502, message: verdict.kind === "unresolved" ? verdict.message : `${writeTarget(target)} is allowed, but the host could not connect to it` };
}

function connectOnce(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    // An address, never a name: Node resolves nothing.
    const socket = connect({ host, port });
    const late = setTimeout(() => give(undefined), connectMs);
    function give(connected: Socket | undefined): void {
      clearTimeout(late);
      if (connected === undefined) socket.destroy();
      resolve(connected);
    }
    socket.on("error", () => give(undefined));
    socket.once("connect", () => give(socket));
  });
}
