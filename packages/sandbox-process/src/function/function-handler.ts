import { createHash } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { RunLimits, SandboxDriver } from "@callgate/contract";
import { FrameError } from "../frames/frame-splitter.ts";
import { isSameToken } from "../host/is-same-token.ts";
import { readBody } from "./read-body.ts";
import { parseFunctionRequest } from "./function-request.ts";
import type { FunctionRequest } from "./function-request.ts";
import { afterHeader, digestHeader, frameContentType, functionProtocolVersion } from "./round-frames.ts";
import { runRound } from "./run-round.ts";

export interface FunctionHandlerOptions {
  /** What runs programs inside of the function. It has to be replayable: each request runs its program from the start. */
  readonly driver: SandboxDriver;
  /** What callers have to show, 16 characters or more from a random source. */
  readonly token: string;
  /** What programs get at most, whatever a caller asks for. */
  readonly maxLimits?: Partial<RunLimits>;
  /** Of a request's body: the program and all the answers it had. Default 64 MiB. */
  readonly maxRequestMiB?: number;
}

/** Takes a request and gives its response, as functions of most clouds do. Never rejects. */
export type FunctionHandler = (request: Request) => Promise<Response>;

/**
 * The half of `createHttpFunctionDriver` that a user deploys. It keeps nothing from request to request, so any instance of
 * the function can take the next one. When a request is aborted, its program is ended.
 *
 * Throws `CallgateError` CONFIG_INVALID for a driver that cannot replay, or a token that could be guessed.
 */
export function createFunctionHandler({ driver, token, maxLimits = {}, maxRequestMiB = 64 }: FunctionHandlerOptions): FunctionHandler {
  if (!driver.replayable) throw new CallgateError("CONFIG_INVALID", `The sandbox ${driver.name} cannot run in a function: a run there is begun anew for each answer, and its programs do not do the same twice. Use one that is replayable`);
  if (token.length < 16) throw new CallgateError("CONFIG_INVALID", "The token of a function needs 16 characters or more, from a random source");
  const described = { protocol: functionProtocolVersion, languages: driver.languages, limits: driver.limits, artifacts: driver.artifacts };

  async function run(request: Request): Promise<Response> {
    const body = await readBody(request, maxRequestMiB * 1024 * 1024);
    if (body === undefined) return refuse(413, `The request is over ${maxRequestMiB} MiB`);
    const after = Number(request.headers.get(afterHeader) ?? "0");
    if (!Number.isSafeInteger(after) || after < 0) return refuse(400, `${afterHeader} is no number of frames`);
    const asked = parseFunctionRequest(body, maxRequestMiB * 1024 * 1024);
    if (!driver.languages.includes(asked.job.language)) return refuse(400, `This function runs ${driver.languages.join(", ")}, not ${asked.job.language}`);
    const frames = await runRound(driver, bounded(asked, maxLimits), request.signal);
    const told = createHash("sha256").update(Buffer.concat(frames.slice(0, after))).digest("hex");
    return new Response(Buffer.concat(frames.slice(after)), { headers: { "content-type": frameContentType, [digestHeader]: told } });
  }

  return async (request) => {
    if (!isAllowed(request, token)) return refuse(401, "A token is needed: authorization: Bearer …");
    if (request.method === "GET") return Response.json(described);
    if (request.method !== "POST") return refuse(405, "POST a run, or GET what this function runs");
    try {
      return await run(request);
    } catch (fault) {
      return fault instanceof FrameError ? refuse(400, fault.message) : refuse(500, "The function failed; its own log says why");
    }
  };
}

function bounded({ job, completions }: FunctionRequest, most: Partial<RunLimits>): FunctionRequest {
  const limits = Object.fromEntries(Object.entries(job.limits).map(([name, value]) => [name, Math.min(value, most[name as keyof RunLimits] ?? value)])) as unknown as RunLimits;
  return { job: { ...job, limits }, completions };
}

function isAllowed(request: Request, token: string): boolean {
  return isSameToken(request.headers.get("authorization") ?? "", `Bearer ${token}`);
}

function refuse(status: number, message: string): Response {
  return Response.json({ message }, { status });
}
