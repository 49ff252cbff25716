import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { CallgateError, encodeValue } from "@callgate/contract";
import type { ApprovalAnswer, Approver, Gate, SessionView } from "@callgate/contract";
import { denyingApprover } from "@callgate/runtime/broker";
import type { FaultMessage, RunLine, RunMessage, StateLine } from "./session-messages.ts";

/** Questions of blocks, for the person at the command that runs the block. */
export interface BlockApprover extends Approver {
  /** Sends questions to `tell` until the returned function is called; then open ones are denied. */
  during(tell: (line: RunLine) => void): () => void;
  answer(approvalId: string, answer: ApprovalAnswer): void;
}

/** @param needsSignature whoever reads the files of this user can reach the socket: then a bare answer is none */
export function createBlockApprover(needsSignature: boolean): BlockApprover {
  const nobody = denyingApprover();
  const open = new Map<string, (answer: ApprovalAnswer) => void>();
  let tellNow: ((line: RunLine) => void) | undefined;
  return {
    async ask(question, signal) {
      const tell = tellNow;
      if (tell === undefined) return await nobody.ask(question, signal);
      const { promise, resolve, reject } = Promise.withResolvers<ApprovalAnswer>();
      const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("the call was aborted"));
      signal.addEventListener("abort", abort, { once: true });
      open.set(question.approvalId, resolve);
      tell({ kind: "ask", question });
      try {
        return await promise;
      } finally {
        open.delete(question.approvalId);
        signal.removeEventListener("abort", abort);
      }
    },
    during(tell) {
      tellNow = tell;
      return () => {
        if (tellNow === tell) tellNow = undefined;
        for (const answer of open.values()) answer({ kind: "denied", by: "terminal", reason: "the command that was asked has gone" });
      };
    },
    answer(approvalId, answer) {
      const unsigned: ApprovalAnswer = { kind: "denied", by: "nobody", reason: "an answer for a session has to be signed here: it came without a signature" };
      open.get(approvalId)?.(needsSignature && answer.kind === "approved" ? unsigned : answer);
    },
  };
}

export interface HolderOptions {
  readonly gate: Gate;
  readonly approver: BlockApprover;
  readonly sessionId: string;
  readonly token: string;
}

/** Serves one session to the commands of its user. */
export interface SessionHolder {
  listen(socket: string): Promise<void>;
  close(): Promise<void>;
}

export function createSessionHolder(options: HolderOptions): SessionHolder {
  const server: Server = createServer((request, response) => {
    // A reader that has gone is no fault of the holder's.
    response.on("error", () => undefined);
    handle(options, request, response).catch((fault: unknown) => {
      if (!response.headersSent) response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.end(lineOf({ kind: "fault", fault: faultOf(fault) }));
    });
  });
  return {
    listen: (socket) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(socket, () => {
          server.off("error", reject);
          resolve();
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

export function faultOf(fault: unknown): FaultMessage {
  return { code: CallgateError.is(fault) ? fault.code : "INTERNAL", message: fault instanceof Error ? fault.message : String(fault) };
}

function lineOf(line: RunLine | StateLine): string {
  return `${JSON.stringify(line)}\n`;
}

async function handle(options: HolderOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { gate, sessionId, token, approver } = options;
  if (!isSame(request.headers.authorization ?? "", `Bearer ${token}`)) return void response.writeHead(401).end();
  const state = (view: SessionView | undefined): void => {
    if (view === undefined) throw new CallgateError("SESSION_ENDED", `There is no session ${sessionId} any more`);
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.end(lineOf({ kind: "state", view }));
  };
  switch (`${request.method ?? ""} ${request.url ?? ""}`) {
    case "GET /state":
      return state(gate.sessions.show(sessionId));
    case "POST /run":
      return await runBlock(options, (await json(request)) as RunMessage, response);
    case "POST /answer": {
      const { approvalId, answer } = (await json(request)) as { readonly approvalId: string; readonly answer: ApprovalAnswer };
      approver.answer(approvalId, answer);
      return state(gate.sessions.show(sessionId));
    }
    case "POST /interrupt":
      gate.sessions.interrupt(sessionId);
      return state(gate.sessions.show(sessionId));
    case "POST /restart":
      return state(await gate.sessions.restart(sessionId));
    case "POST /close":
      return state(await gate.sessions.close(sessionId));
    default:
      return void response.writeHead(404).end();
  }
}

/** A command that goes away takes its block with it, as one at a terminal does. */
async function runBlock({ gate, approver, sessionId }: HolderOptions, { program, canAsk, ...options }: RunMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const tell = (line: RunLine): void => void response.write(lineOf(line));
  const leave = canAsk ? approver.during(tell) : undefined;
  try {
    tell({ kind: "result", result: encodeValue(await gate.run(program, { ...options, session: sessionId, signal: gone.signal })) });
  } finally {
    leave?.();
  }
  response.end();
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
