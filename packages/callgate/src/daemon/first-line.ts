import type { Socket } from "node:net";
import { maxHelloChars } from "./daemon-messages.ts";

/**
 * The first line of a connection; what follows it stays to be read. Rejects where the other side ends, sends too much, or has
 * not sent it in time.
 */
export async function firstLine(socket: Socket, timeoutMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let read = Buffer.alloc(0);
  const onReadable = (): void => {
    for (let part = socket.read() as Buffer | null; part !== null; part = socket.read() as Buffer | null) {
      read = Buffer.concat([read, part]);
      const end = read.indexOf(10);
      if (end === -1 && read.length <= maxHelloChars) continue;
      if (end === -1 || end > maxHelloChars) return reject(new Error("its first line is too long"));
      stopReading();
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1));
      return resolve(read.subarray(0, end).toString("utf8"));
    }
  };
  const onEnd = (): void => reject(new Error("it ended before its first line"));
  const stopReading = (): void => void socket.off("readable", onReadable);
  const late = setTimeout(() => reject(new Error(`no first line came within ${timeoutMs / 1000} s`)), timeoutMs);
  socket.on("readable", onReadable).on("end", onEnd).on("close", onEnd);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    stopReading();
    socket.off("end", onEnd).off("close", onEnd);
  }
}
