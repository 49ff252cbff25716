import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { parseTarget } from "@callgate/http-client/network";
import type { Target } from "@callgate/http-client/network";
import { connectTo } from "./connect-to.ts";
import { createInnerNameReader } from "./inner-name.ts";
import type { InnerName } from "./inner-name.ts";
import type { DenyRule } from "./network-policy.ts";
import type { Refusal, Way } from "./way.ts";

export interface TunnelEnds {
  readonly guest: Duplex;
  /** What came behind the request. */
  readonly first: Buffer;
}

/**
 * CONNECT: bytes both ways between a guest and a target. Where they begin as TLS, the server they name must be the one
 * that was asked for: many names live behind one address. Resolves when the tunnel stands, or with why it does not.
 */
export async function tunnel(way: Way, target: Target, { guest, first }: TunnelEnds): Promise<Refusal | undefined> {
  const connected = await connectTo(way, target);
  if (connected.kind === "refused") return connected;
  const { socket } = connected;
  const open = way.record.open(target);
  let rule: DenyRule | undefined;
  socket.once("close", () => {
    guest.destroy();
    open.end({ sent: socket.bytesWritten, received: socket.bytesRead }, rule);
  });
  guest.once("close", () => socket.destroy());
  if (guest.destroyed) socket.destroy();
  guest.write("HTTP/1.1 200 Connection established\r\n\r\n");
  socket.pipe(guest);
  if (first.length > 0) guest.unshift(first);
  inspect({ guest, socket }, (inner) => {
    if (isSame(inner, target)) return true;
    rule = "other-name-inside";
    socket.destroy();
    return false;
  });
  return undefined;
}

/** Holds what the guest sends until it is known for whom; what the target sends goes through meanwhile. */
function inspect({ guest, socket }: { readonly guest: Duplex; readonly socket: Socket }, admits: (inner: InnerName) => boolean): void {
  const reader = createInnerNameReader();
  const held: Buffer[] = [];
  const hold = (chunk: Buffer): void => {
    held.push(chunk);
    reader.push(chunk);
  };
  const end = (): void => void socket.end();
  guest.on("data", hold);
  guest.once("end", end);
  guest.once("close", () => reader.close());
  reader.found.then(
    (inner) => {
      guest.off("data", hold);
      guest.off("end", end);
      if (socket.destroyed || !admits(inner)) return;
      for (const chunk of held.splice(0)) socket.write(chunk);
      if (guest.readableEnded) socket.end();
      else guest.pipe(socket);
    },
    () => undefined,
  );
}

function isSame(inner: InnerName, { host }: Target): boolean {
  if (inner.kind === "unnamed") return true;
  return inner.kind === "named" && parseTarget(inner.name, 443)?.host === host;
}
