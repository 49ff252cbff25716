import type { IncomingMessage, ServerResponse } from "node:http";

/** Takes answers to questions from a service that proves itself with a signature, not with a token of the endpoint. */
export interface AnswersPage {
  /** @param body as it came: a signature is over its bytes. Does not reject */
  answer(headers: Readonly<Record<string, string>>, body: string): Promise<PageAnswer>;
}

export interface PageAnswer {
  readonly status: number;
  readonly body: object;
}

export const ANSWERS_PATH = "/answers";

/** An answer is some hundred bytes. */
const maxBodyBytes = 16 * 1024;

/** Serves one request. Whoever sends too much is cut off before it is in memory. */
export async function serveAnswer(page: AnswersPage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    response.setHeader("Allow", "POST");
    send(response, { status: 405, body: { error: `${ANSWERS_PATH} takes POST` } });
    return;
  }
  const body = await readBody(request);
  if (body === undefined) {
    response.setHeader("Connection", "close");
    send(response, { status: 413, body: { error: `An answer has at most ${maxBodyBytes} bytes` } });
    return;
  }
  const headers = Object.fromEntries(Object.entries(request.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : [])));
  send(response, await page.answer(headers, body));
}

/** Undefined: it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function send(response: ServerResponse, { status, body }: PageAnswer): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
