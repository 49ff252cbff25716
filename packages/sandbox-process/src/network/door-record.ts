import type { GuestConnection } from "@callgate/contract";
import type { Target } from "@callgate/http-client/network";
import type { DenyRule } from "./network-policy.ts";

/** What went through the door of one guest. */
export interface DoorRecord {
  listen(hear: (connection: GuestConnection) => void): void;
  /** False when the guest has opened as many connections as it may. */
  admits(target: Target): boolean;
  deny(target: Target, rule: DenyRule | "unreachable"): void;
  /** A connection that was made; `end` is called once, when it is over. */
  open(target: Target): { end(bytes: { readonly sent: number; readonly received: number }, rule?: DenyRule): void };
  /** Resolves when no connection is open. */
  settled(): Promise<void>;
}

/** Connections at once. */
export const maxOpen = 64;
const maxInAll = 10_000;
/** Connections that are told each; beyond, only their number is kept, so that a guest cannot flood the record. */
const maxTold = 500;

export function createDoorRecord(): DoorRecord {
  const before: GuestConnection[] = [];
  const waiting: (() => void)[] = [];
  let hear: ((connection: GuestConnection) => void) | undefined;
  let told = 0;
  let inAll = 0;
  let open = 0;

  function tell(connection: GuestConnection): void {
    told += 1;
    if (told > maxTold) return;
    if (hear === undefined) before.push(connection);
    else hear(connection);
  }

  const deny = ({ host, port }: Target, rule: string): void => tell({ host, port, verdict: "denied", rule, bytesSent: 0, bytesReceived: 0 });
  return {
    listen(hearing) {
      hear = hearing;
      for (const connection of before.splice(0)) hear(connection);
    },
    admits(target) {
      inAll += 1;
      if (inAll > maxInAll) deny(target, "too-many" satisfies DenyRule);
      return inAll <= maxInAll;
    },
    deny,
    open({ host, port }) {
      open += 1;
      return {
        end({ sent, received }, rule) {
          open -= 1;
          tell({ host, port, verdict: rule === undefined ? "allowed" : "denied", ...(rule === undefined ? {} : { rule }), bytesSent: sent, bytesReceived: received });
          if (open === 0) for (const wake of waiting.splice(0)) wake();
        },
      };
    },
    settled: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
