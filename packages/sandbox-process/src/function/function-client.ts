import { CallgateError } from "@callgate/contract";
import type { Slots } from "../host/slots.ts";
import { readBody } from "./read-body.ts";
import { afterHeader, digestHeader, frameContentType } from "./round-frames.ts";

/** One function, asked over HTTP. */
export interface FunctionClient {
  /** Rejects with `CallgateError` DRIVER_FAILED. */
  describe(): Promise<unknown>;
  /** Runs one round. Rejects with `FunctionError`, or as `signal` does. */
  run(body: Uint8Array, round: { readonly after: number; readonly signal: AbortSignal }): Promise<RoundAnswer>;
}

export interface RoundAnswer {
  readonly frames: Buffer;
  /** Of the frames that were left out. */
  readonly digest: string;
}

/** Why a round gave nothing. Its message is for programs and models: no address, no token. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
}

export interface FunctionClientOptions {
  readonly url: string;
  readonly token: string;
  readonly requestMs: number;
  readonly slots: Slots;
}

/** Of one answer: what a run may say in all, and no more. */
const maxAnswerBytes = 256 * 1024 * 1024;
const loopback = ["127.0.0.1", "[::1]", "localhost"];

/** Throws `CallgateError` CONFIG_INVALID for an address in clear that is not this machine's. */
export function createFunctionClient({ url, token, requestMs, slots }: FunctionClientOptions): FunctionClient {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || (address.protocol !== "https:" && !(address.protocol === "http:" && loopback.includes(address.hostname)))) throw new CallgateError("CONFIG_INVALID", "The address of a function is https://…; http:// only on this machine: programs and the data they work with go there");
  if (address.username !== "" || address.password !== "") throw new CallgateError("CONFIG_INVALID", "The address of a function holds no password: give it as its token");
  const headers = { authorization: `Bearer ${token}` };
  // A redirect could lead program and token to anyone.
  const ask = (init: RequestInit): Promise<Response> => fetch(address, { redirect: "error", ...init });

  return {
    async describe() {
      try {
        const response = await ask({ headers, signal: AbortSignal.timeout(requestMs) });
        if (!response.ok) throw new FunctionError(statusText(response.status));
        return JSON.parse(String(await readBody(response, 64 * 1024))) as unknown;
      } catch (fault) {
        throw new CallgateError("DRIVER_FAILED", `No function of Callgate answers at ${address.origin}${address.pathname}: ${fault instanceof Error ? fault.message : "unknown reason"}`, { cause: fault });
      }
    },
    async run(body, { after, signal }) {
      await slots.take();
      const late = AbortSignal.timeout(requestMs);
      try {
        signal.throwIfAborted();
        const response = await ask({ method: "POST", headers: { ...headers, "content-type": frameContentType, [afterHeader]: `${after}` }, body: new Uint8Array(body), signal: AbortSignal.any([signal, late]) });
        if (!response.ok) throw new FunctionError(`${statusText(response.status)}${await saidOf(response)}`);
        const frames = await readBody(response, maxAnswerBytes);
        if (frames === undefined) throw new FunctionError(`it answered more than ${maxAnswerBytes / 1024 / 1024} MiB`);
        return { frames, digest: response.headers.get(digestHeader) ?? "" };
      } catch (fault) {
        if (fault instanceof FunctionError || signal.aborted) throw fault;
        throw new FunctionError(late.aborted ? `it did not answer in ${requestMs} ms` : "it could not be reached, or its answer broke off");
      } finally {
        slots.give();
      }
    },
  };
}

function statusText(status: number): string {
  if (status === 401 || status === 403) return `it refuses the token (HTTP ${status})`;
  return `it answered HTTP ${status}`;
}

/** What a function of ours says of a refusal; nothing of what a gateway before it says. */
async function saidOf(response: Response): Promise<string> {
  try {
    const { message } = JSON.parse(String(await readBody(response, 16 * 1024))) as { readonly message?: unknown };
    return typeof message === "string" ? `: ${message.slice(0, 500)}` : "";
  } catch {
    return "";
  }
}
