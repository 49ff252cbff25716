// What goes over the wire, beside what a client library that others keep sends for the same parameter.
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createHttpClient } from "@callgate/http-client";
import createClient from "openapi-fetch";
import { afterAll, describe, expect, test } from "vitest";
import type { HttpOperation, HttpParameter, ParameterStyle } from "../http-operation.ts";
import { buildRequest } from "./build-request.ts";

let last = "";
/** Of the last request: its headers, and its body as it came. */
let seen: { readonly headers: IncomingHttpHeaders; readonly body: string } = { headers: {}, body: "" };
const server = createServer((request, response) => {
  last = request.url ?? "";
  buffer(request).then((body) => {
    seen = { headers: request.headers, body: body.toString("latin1") };
    response.end("{}");
  }, () => response.destroy());
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

describe("headers", () => {
  test.each([["a text", "blue sky, ;="], ["a number", 7], ["true", true]] as const)("%s", async (_what, value) => {
    await ours({ name: "X-Color", argument: "X-Color", in: "header", required: false, style: "simple", explode: false, allowReserved: false }, "/colors", value);
    const sent = seen.headers["x-color"];
    const library = createClient<Record<string, never>>({ baseUrl: origin });
    await library.request("get" as never, "/colors" as never, { params: { header: { "X-Color": value } } } as never);
    expect([sent, sent]).toEqual([String(value), seen.headers["x-color"]]);
  });
});

describe("bodies", () => {
  const fields = { color: "blue sky/ä?&=+%", count: 7, open: true };
  const send = async (mediaType: string, args: Readonly<Record<string, unknown>>, files: readonly string[] = []): Promise<typeof seen> => {
    const operation: HttpOperation = { method: "POST", path: "/colors", servers: [], parameters: [], responses: [], security: [], body: { mediaType, required: true, from: { kind: "merged", properties: Object.keys(args) }, files } };
    await client.send(buildRequest(operation, new URL(origin), args));
    return seen;
  };
  const library = async (options: object): Promise<typeof seen> => {
    await createClient<Record<string, never>>({ baseUrl: origin }).request("post" as never, "/colors" as never, options as never);
    return seen;
  };
  /** With the boundary, which each draws for itself, by one name. */
  const named = ({ headers, body }: typeof seen): string => {
    const boundary = /boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1] ?? "none";
    return `${(headers["content-type"] ?? "").replace(boundary, "BOUNDARY")}\n${body.replaceAll(boundary, "BOUNDARY")}`;
  };

  test("JSON", async () => {
    expect((await send("application/json", fields)).body).toBe((await library({ body: fields })).body);
  });

  test("a form", async () => {
    const mediaType = "application/x-www-form-urlencoded";
    expect((await send(mediaType, fields)).body).toBe((await library({ body: fields, headers: { "content-type": mediaType } })).body);
  });

  test("multipart, with a file", async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
    form.set("picture", new File([Uint8Array.of(0, 255, 13, 10)], 'a "b".png', { type: "image/png" }));
    const picture = { base64: "AP8NCg==", filename: 'a "b".png', mediaType: "image/png" };
    expect(named(await send("multipart/form-data", { ...fields, picture }, ["picture"]))).toBe(named(await library({ body: form, bodySerializer: (body: unknown) => body })));
  });
});
