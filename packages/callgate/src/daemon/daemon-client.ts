import { connect } from "node:net";
import type { Socket } from "node:net";
import { CallgateError, callgateErrorCodes } from "@callgate/contract";
import type { CallgateErrorCode } from "@callgate/contract";
import type { Hello, HelloAnswer } from "./daemon-messages.ts";
import type { DaemonRecord } from "./daemon-records.ts";
import { firstLine } from "./first-line.ts";

type Said<Message> = Message extends unknown ? Omit<Message, "token"> : never;

/** A connection that the process has agreed to. */
export interface DaemonConnection {
  readonly socket: Socket;
  /** How many clients it has, this one among them. */
  readonly clients: number;
}

const answerWithinMs = 30_000;

/**
 * Connects to the process of a record. Undefined: nobody is there any more.
 *
 * Errors: `CallgateError` with the process's own code where it refuses; DRIVER_FAILED where it does not answer.
 */
export async function connectDaemon(record: DaemonRecord, message: Said<Hello>): Promise<DaemonConnection | undefined> {
  const socket = await open(record.socket);
  if (socket === undefined) return undefined;
  socket.write(`${JSON.stringify({ ...message, token: record.token })}\n`);
  const answer = await firstLine(socket, answerWithinMs).then(
    (line) => JSON.parse(line) as HelloAnswer,
    (cause: unknown) => {
      socket.destroy();
      throw new CallgateError("DRIVER_FAILED", `The process that clients share (pid ${record.pid}) does not answer: ${cause instanceof Error ? cause.message : String(cause)}. End it: callgate daemon stop`, { cause });
    },
  );
  if (answer.kind === "ok") return { socket, clients: answer.clients };
  socket.destroy();
  throw new CallgateError(Object.hasOwn(callgateErrorCodes, answer.code) ? (answer.code as CallgateErrorCode) : "DRIVER_FAILED", answer.message);
}

function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once("error", () => resolve(undefined));
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      // What breaks later ends the connection, which is seen by who reads it.
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}
