import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { CallgateError } from "@callgate/contract";
import { createRedactor } from "@callgate/runtime/journal";
import { z } from "zod";

/** As `fetch`, for the `fetch` option of a provider. */
type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface CassetteOptions {
  /** JSON, for version control: it holds no header of a request, and of bodies only what `redact` leaves. */
  readonly file: string;
  /**
   * `replay`: nothing goes out. `record`: all goes out through `fetch`, and the file is written anew by `save`.
   * Default `replay`.
   */
  readonly mode?: "replay" | "record";
  /** Through what requests go out while it records: the guarded one of the host. */
  readonly fetch?: Fetch;
  /** Texts that must not be in the file, in any of their usual forms. What looks like a key or token is left out unasked. */
  readonly secrets?: readonly string[];
}

/**
 * Answers of a provider, recorded once and given again, in their order, to exactly the requests they were recorded for. Only
 * the ids that a provider's package makes up for calls, where its service gives none, may be others each time.
 */
export interface Cassette {
  readonly fetch: Fetch;
  /** Exchanges that nothing has asked for yet. */
  readonly left: number;
  /** Writes what was recorded. */
  save(): void;
}

const exchangeShape = z.strictObject({
  request: z.strictObject({ method: z.string(), url: z.string(), body: z.unknown() }),
  response: z.strictObject({ status: z.int(), contentType: z.string(), chunks: z.array(z.string()) }),
});
const fileShape = z.strictObject({ version: z.literal(1), exchanges: z.array(exchangeShape) });
type Exchange = z.infer<typeof exchangeShape>;

/**
 * Errors: `CallgateError` RECORDING_INVALID for a file that is none; and, from `fetch`, for a request that was not the next
 * one recorded, naming the first place where they differ. A provider is then told nothing.
 */
export function createCassette({ file, mode = "replay", fetch, secrets = [] }: CassetteOptions): Cassette {
  if (mode === "record" && fetch === undefined) throw new CallgateError("USAGE", "A cassette that records needs the fetch that requests go out through");
  // The same text is the same hash in every process: what was recorded is compared with what is asked.
  const redactor = createRedactor({ secrets, key: new Uint8Array(32), detect: { secret: true } });
  const redact = (text: string): string => redactor.text(text);
  const exchanges: Exchange[] = mode === "replay" ? readExchanges(file) : [];
  let next = 0;
  const isMadeUp = createMadeUpIds(exchanges);

  async function replayed(request: Exchange["request"]): Promise<Response> {
    const exchange = exchanges[next];
    if (exchange === undefined) throw new CallgateError("RECORDING_INVALID", `${file} holds ${exchanges.length} exchanges, and one more was asked for: ${request.method} ${request.url}`);
    const where = firstDifference(exchange.request, request, { at: "", isSame: (recorded, asked, key) => isMadeUp(recorded, asked, { key, upTo: next }) });
    if (where !== undefined) throw new CallgateError("RECORDING_INVALID", `Request ${next + 1} is not the one that ${file} has an answer for: they differ at ${where}. Record it anew, or see what has changed`);
    next += 1;
    return responseOf(exchange);
  }

  return {
    async fetch(url, init) {
      const request = await requestOf(url, init, redact);
      if (mode === "replay") return await replayed(request);
      const answer = await (fetch as Fetch)(url, init);
      const text = redact(await answer.text());
      // Events stay one chunk each, so that a stream is a stream again.
      const chunks = text.split(/(?<=\n\n)/);
      const exchange = { request, response: { status: answer.status, contentType: answer.headers.get("content-type") ?? "application/json", chunks } };
      exchanges.push(exchange);
      return responseOf(exchange);
    },
    get left() {
      return exchanges.length - next;
    },
    save() {
      if (mode === "record") writeFileSync(file, `${JSON.stringify({ version: 1, exchanges }, undefined, 2)}\n`);
    },
  };
}

function readExchanges(file: string): Exchange[] {
  if (!existsSync(file)) throw new CallgateError("RECORDING_INVALID", `There is no recording ${file}; make it with mode "record"`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new CallgateError("RECORDING_INVALID", `${file} is no JSON`, { cause });
  }
  const read = fileShape.safeParse(value);
  if (!read.success) throw new CallgateError("RECORDING_INVALID", `${file} is no recording of a provider: ${read.error.issues[0]?.path.join(".") ?? ""} ${read.error.issues[0]?.message ?? ""}`);
  return read.data.exchanges;
}

/** Without headers: keys are in them. A key in the address is left out as well. */
async function requestOf(url: string | URL | Request, init: RequestInit | undefined, redact: (text: string) => string): Promise<Exchange["request"]> {
  const request = new Request(url, init);
  const { protocol, host, pathname } = new URL(request.url);
  const text = redact(await request.text());
  return { method: request.method, url: `${protocol}//${host}${pathname}`, body: text === "" ? null : jsonOr(text) };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function responseOf({ response: { status, contentType, chunks } }: Exchange): Response {
  const encoder = new TextEncoder();
  return new Response(ReadableStream.from(chunks.map((chunk) => encoder.encode(chunk))) as ReadableStream<Uint8Array<ArrayBuffer>>, { status, headers: { "content-type": contentType } });
}

/** Whether two texts that are not equal stand for the same: under a key that names ids, held by no answer before, and always together. */
function createMadeUpIds(exchanges: readonly Exchange[]): (recorded: unknown, asked: unknown, where: { readonly key: string; readonly upTo: number }) => boolean {
  const pairs = new Map<string, string>();
  const taken = new Map<string, string>();
  return (recorded, asked, { key, upTo }) => {
    if (typeof recorded !== "string" || typeof asked !== "string" || !/^id$|_id$|Id$/.test(key)) return false;
    const isGiven = (id: string): boolean => exchanges.slice(0, upTo).some(({ response }) => response.chunks.some((chunk) => chunk.includes(id)));
    if (isGiven(recorded) || isGiven(asked)) return false;
    const [other, owner] = [pairs.get(recorded) ?? asked, taken.get(asked) ?? recorded];
    pairs.set(recorded, other);
    taken.set(asked, owner);
    return other === asked && owner === recorded;
  };
}

interface Comparing {
  /** JSON Pointer to the two values. */
  readonly at: string;
  readonly isSame: (recorded: unknown, asked: unknown, key: string) => boolean;
}

/** A JSON Pointer to the first place where two values differ. The order of keys is none. */
function firstDifference(recorded: unknown, asked: unknown, { at, isSame }: Comparing): string | undefined {
  if (typeof recorded !== "object" || recorded === null || typeof asked !== "object" || asked === null) return Object.is(recorded, asked) || isSame(recorded, asked, at.slice(at.lastIndexOf("/") + 1)) ? undefined : at === "" ? "/" : at;
  const keys = new Set([...Object.keys(recorded), ...Object.keys(asked)]);
  for (const key of keys) {
    const where = firstDifference((recorded as Record<string, unknown>)[key], (asked as Record<string, unknown>)[key], { at: `${at}/${key}`, isSame });
    if (where !== undefined) return where;
  }
  return undefined;
}
