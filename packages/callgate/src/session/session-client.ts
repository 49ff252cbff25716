import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { CallgateError, callgateErrorCodes, decodeValue } from "@callgate/contract";
import type { ApprovalAnswer, ApprovalQuestion, CallgateErrorCode, RunResult, SessionView } from "@callgate/contract";
import type { FaultMessage, RunLine, RunMessage, StateLine } from "./session-messages.ts";
import type { SessionRecord } from "./session-records.ts";

/** A session from outside of the process that holds it. */
export interface SessionClient {
  /** Undefined when nobody holds it any more. */
  state(): Promise<SessionView | undefined>;
  run(message: Omit<RunMessage, "canAsk">, options: RunBlockOptions): Promise<RunResult>;
  interrupt(): Promise<SessionView>;
  restart(): Promise<SessionView>;
  close(): Promise<SessionView>;
}

export interface RunBlockOptions {
  /** Where a person can be asked. */
  readonly ask?: (question: ApprovalQuestion) => Promise<ApprovalAnswer>;
  /** Aborts when the block is to be interrupted; its result still comes. */
  readonly signal: AbortSignal;
}

/** How long a holder may take to say that it lives. */
const stateTimeoutMs = 10_000;

/** Errors of all: `CallgateError` SESSION_ENDED when nobody holds the session any more; what the gate of the holder throws. */
export function connectSession(record: SessionRecord): SessionClient {
  const post = async (path: string, body?: unknown): Promise<SessionView> => stateOf(await lastLine<StateLine>(await send(record, { method: "POST", path, body })));
  return {
    async state() {
      try {
        return stateOf(await lastLine<StateLine>(await send(record, { method: "GET", path: "/state", timeoutMs: stateTimeoutMs })));
      } catch (fault) {
        if (CallgateError.is(fault) && fault.code === "SESSION_ENDED") return undefined;
        throw fault;
      }
    },
    interrupt: () => post("/interrupt"),
    restart: () => post("/restart"),
    close: () => post("/close"),
    async run(message, { ask, signal }) {
      const interrupt = (): void => void post("/interrupt").catch(() => undefined);
      const body: RunMessage = { ...message, canAsk: ask !== undefined };
      signal.addEventListener("abort", interrupt, { once: true });
      try {
        const response = await send(record, { method: "POST", path: "/run", body });
        for await (const line of linesOf<RunLine>(response)) {
          if (line.kind === "result") return decodeValue(line.result) as RunResult;
          if (line.kind === "fault") throw errorOf(line.fault);
          const { approvalId } = line.question;
          ask?.(line.question).then((answer) => post("/answer", { approvalId, answer })).catch(() => undefined); // Whoever asked denies it in time.
        }
        throw lostError(record);
      } finally {
        signal.removeEventListener("abort", interrupt);
      }
    },
  };
}

/** Nobody answers: what that means, and what to do. */
export function lostError({ sessionId, end }: SessionRecord): CallgateError {
  const why = end === undefined ? "the process that held it is gone: it was killed, or this machine was restarted" : end.message.replace(/\.$/, "");
  return new CallgateError("SESSION_ENDED", `The session ${sessionId} has ended: ${why}. Its variables, working folder and files are gone; its blocks are on record (callgate session show ${sessionId}). Begin anew with nothing: callgate session restart ${sessionId}`, { details: { sessionId } });
}

interface Sending {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

function send(record: SessionRecord, { method, path, body, timeoutMs }: Sending): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: record.socket, method, path, headers: { authorization: `Bearer ${record.token}` }, agent: false, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) }, resolve);
    asked.once("timeout", () => asked.destroy(new CallgateError("DRIVER_FAILED", `The process that holds the session ${record.sessionId} (pid ${record.pid}) does not answer`)));
    asked.once("error", (fault) => reject(CallgateError.is(fault) ? fault : lostError(record)));
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function* linesOf<Line>(response: IncomingMessage): AsyncGenerator<Line> {
  try {
    for await (const line of createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })) if (line !== "") yield JSON.parse(line) as Line;
  } catch {} // The holder has gone in the middle: there is no further line.
}

async function lastLine<Line>(response: IncomingMessage): Promise<Line | undefined> {
  let last: Line | undefined;
  for await (const line of linesOf<Line>(response)) last = line;
  return last;
}

function stateOf(line: StateLine | undefined): SessionView {
  if (line?.kind === "state") return line.view;
  throw line === undefined ? new CallgateError("SESSION_ENDED", "The process that held the session ended before it answered") : errorOf(line.fault);
}

export function errorOf({ code, message }: FaultMessage): Error {
  return Object.hasOwn(callgateErrorCodes, code) ? new CallgateError(code as CallgateErrorCode, message) : new Error(message);
}
