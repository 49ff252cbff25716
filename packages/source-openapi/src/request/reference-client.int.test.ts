// What goes over the wire, beside what a client library that others keep sends for the same parameter.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpClient } from "@callgate/http-client";
import createClient from "openapi-fetch";
import { afterAll, describe, expect, test } from "vitest";
import type { HttpOperation, HttpParameter, ParameterStyle } from "../http-operation.ts";
import { buildRequest } from "./build-request.ts";

let last = "";
const server = createServer((request, response) => {
  last = request.url ?? "";
  response.end("{}");
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const client = createHttpClient({ namedOrigins: [origin] });
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

async function ours(parameter: HttpParameter, path: string, value: unknown): Promise<string> {
  const operation: HttpOperation = { method: "GET", path, servers: [], parameters: [parameter], responses: [], security: [] };
  await client.send(buildRequest(operation, new URL(origin), { [parameter.argument]: value }));
  return last;
}

/** The library leaves brackets and bars as they are, which RFC 3986 does not allow and some services refuse. */
const sameBytes = (url: string): string => url.replaceAll("[", "%5B").replaceAll("]", "%5D").replaceAll("|", "%7C");

const values: readonly (readonly [string, unknown])[] = [["a text", "blue sky/ä?&"], ["a number", 7], ["true", true], ["a list", ["blue", "black & white", "br,own"]], ["an object", { R: 100, G: "a b", B: 150 }]];

describe("queries", () => {
  const styles: readonly (readonly [ParameterStyle, boolean, "list" | "object"])[] = [["form", true, "list"], ["form", false, "list"], ["form", true, "object"], ["form", false, "object"], ["spaceDelimited", false, "list"], ["pipeDelimited", false, "list"], ["deepObject", true, "object"]];
  test.each(styles.flatMap(([style, explode, kind]) => values.filter(([what]) => what.includes(kind) || !/list|object/.test(what)).map(([what, value]) => [style, explode, what, kind, value] as const)))("%s, explode %s: %s", async (style, explode, _what, kind, value) => {
    const parameter: HttpParameter = { name: "color", argument: "color", in: "query", required: false, style, explode, allowReserved: false };
    const sent = await ours(parameter, "/colors", value);
    const library = createClient<Record<string, never>>({ baseUrl: origin, querySerializer: kind === "list" ? { array: { style: style as "form", explode } } : { object: { style: style as "form", explode } } });
    await library.request("get" as never, "/colors" as never, { params: { query: { color: value } } } as never);
    expect(sent).toBe(sameBytes(last));
  });
});

describe("paths", () => {
  const styles: readonly (readonly [ParameterStyle, boolean, string])[] = [["simple", false, "{color}"], ["simple", true, "{color*}"], ["label", false, "{.color}"], ["label", true, "{.color*}"], ["matrix", false, "{;color}"], ["matrix", true, "{;color*}"]];
  test.each(styles.flatMap(([style, explode, template]) => values.map(([what, value]) => [style, explode, what, template, value] as const)))("%s, explode %s: %s", async (style, explode, _what, template, value) => {
    const parameter: HttpParameter = { name: "color", argument: "color", in: "path", required: true, style, explode, allowReserved: false };
    const sent = await ours(parameter, "/colors/{color}/end", value);
    const library = createClient<Record<string, never>>({ baseUrl: origin });
    await library.request("get" as never, `/colors/${template}/end` as never, { params: { path: { color: value } } } as never);
    expect(sent).toBe(sameBytes(last));
  });
});
