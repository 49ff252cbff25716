import { inspect } from "node:util";
import type { Clock } from "@callgate/contract";
import { afterAll, describe, expect, test } from "vitest";
import { createFetch } from "../create-fetch.ts";
import { startServer } from "../fixtures/local-server.ts";
import type { SeenRequest } from "../fixtures/local-server.ts";
import { createHttpClient } from "../http-client.ts";
import type { AuthSpec, OauthAuth } from "./auth-spec.ts";
import { createCredentials } from "./credentials.ts";
import type { Credentials } from "./credentials.ts";

const secrets: Readonly<Record<string, string>> = { "env:KEY": "k3y/with+signs", "env:PASSWORD": "pässword:1", "env:CLIENT": "client-secret-1", "env:REFRESH": "refresh-0", "env:LINES": "two\nlines" };

let nowMs = 0;
const clock: Clock = { now: () => nowMs, monotonic: () => nowMs, schedule: () => ({ cancel: () => undefined }) };

/** What the token endpoint answers next, and the access token the service takes. */
let tokenAnswers: { readonly status: number; readonly body: unknown }[] = [];
let accepted = "";
const service = await startServer((request, response) => {
  if (request.path === "/token") {
    const { status, body } = tokenAnswers.shift() ?? { status: 500, body: "" };
    response.writeHead(status, { "content-type": typeof body === "string" ? "text/html" : "application/json" }).end(typeof body === "string" ? body : JSON.stringify(body));
  } else if (accepted !== "" && request.headers.authorization !== `Bearer ${accepted}`) response.writeHead(401).end();
  else response.end(JSON.stringify({ path: request.path, headers: request.headers }));
});
const client = createHttpClient({ namedOrigins: [service.origin] });
afterAll(() => client.close());

function credentialsOf(...specs: readonly AuthSpec[]): Credentials {
  return createCredentials(specs, { origins: [service.origin], read: (reference) => secrets[reference] ?? reference, fetch: createFetch(client), clock });
}

async function ask(credentials: Credentials, path = "/?a=1"): Promise<{ readonly seen: SeenRequest | undefined; readonly text: string; readonly kind: string }> {
  const result = await client.send({ method: "POST", url: new URL(path, service.origin), credentials });
  return { seen: service.seen.at(-1), kind: result.kind, text: result.kind === "answered" ? `${result.status} ${Buffer.from(result.bytes).toString()}` : inspect(result) };
}

describe("keys, passwords and tokens", () => {
  test("http-019: a key of the program's own is replaced; keys go where the service wants them, beside what is there", async () => {
    accepted = "";
    const own = await client.send({ method: "GET", url: new URL(service.origin), headers: [["x-key", "mine"], ["Authorization", "Bearer mine"]], credentials: credentialsOf({ kind: "apiKey", in: "header", name: "X-Key", value: "env:KEY" }, { kind: "bearer", token: "env:KEY" }) });
    expect([own.kind, service.seen.at(-1)?.headers["x-key"], service.seen.at(-1)?.headers.authorization]).toEqual(["answered", "k3y/with+signs", "Bearer k3y/with+signs"]);
    const { seen } = await ask(credentialsOf({ kind: "apiKey", in: "header", name: "X-Key", value: "env:KEY" }, { kind: "apiKey", in: "cookie", name: "sid", value: "env:KEY" }, { kind: "apiKey", in: "query", name: "key", value: "env:KEY" }), "/?a=1&key=mine");
    expect(seen).toMatchObject({ path: "/?a=1&key=k3y%2Fwith%2Bsigns", headers: { "x-key": "k3y/with+signs", "cookie": "sid=k3y/with+signs" } });
    expect((await ask(credentialsOf({ kind: "basic", username: "ann", password: "env:PASSWORD" }))).seen?.headers.authorization).toBe(`Basic ${Buffer.from("ann:pässword:1").toString("base64")}`);
    expect((await ask(credentialsOf({ kind: "bearer", token: "env:KEY" }))).seen?.headers.authorization).toBe("Bearer k3y/with+signs");
  });

  test("that the service sends back are not in its answer, in any form", async () => {
    accepted = "";
    const { text } = await ask(credentialsOf({ kind: "basic", username: "ann", password: "env:CLIENT" }, { kind: "apiKey", in: "query", name: "key", value: "env:KEY" }));
    expect(text).toContain("[secret]");
    for (const form of ["client-secret-1", "k3y/with", "k3y%2Fwith", Buffer.from("ann:client-secret-1").toString("base64")]) expect(text).not.toContain(form);
  });

  test("do not print, and a reference to more than the secret is told at once", () => {
    const credentials = credentialsOf({ kind: "bearer", token: "env:KEY" });
    expect(inspect(credentials, { depth: 9 }) + JSON.stringify(credentials)).not.toContain("k3y");
    expect(() => credentialsOf({ kind: "bearer", token: "env:LINES" })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.not.stringContaining("two") }));
  });
});

describe("OAuth 2.0", () => {
  const spec: OauthAuth = { kind: "oauth2", grant: "client_credentials", tokenUrl: `${service.origin}/token`, clientId: "id", clientSecret: "env:CLIENT", scopes: ["a", "b"], audience: "aud" };
  const token = (value: string, more: object = {}) => ({ status: 200, body: { access_token: value, token_type: "Bearer", expires_in: 3_600, ...more } });
  const tokenRequests = (): readonly SeenRequest[] => service.seen.filter(({ path }) => path === "/token");

  test("calls at once share one token request; the token is used until shortly before it expires", async () => {
    [tokenAnswers, accepted, nowMs] = [[token("first-token"), token("second-token")], "first-token", 0];
    const credentials = credentialsOf(spec);
    const before = tokenRequests().length;
    expect((await Promise.all([1, 2, 3, 4].map(() => ask(credentials)))).map(({ text }) => text.slice(0, 3))).toEqual(["200", "200", "200", "200"]);
    expect(tokenRequests()).toHaveLength(before + 1);
    expect(tokenRequests().at(-1)).toMatchObject({ body: "scope=a+b&audience=aud&grant_type=client_credentials", headers: { authorization: `Basic ${Buffer.from("id:client%2Dsecret%2D1").toString("base64")}` } });
    nowMs = 3_539_000;
    await ask(credentials);
    expect(tokenRequests()).toHaveLength(before + 1);
    [nowMs, accepted] = [3_541_000, "second-token"];
    expect((await ask(credentials)).text).toMatch(/^200/);
    expect(tokenRequests()).toHaveLength(before + 2);
  });

  test("a token that is refused before its time is replaced once, also for a write", async () => {
    [tokenAnswers, accepted] = [[token("revoked-token"), token("fresh-token")], "fresh-token"];
    const credentials = credentialsOf(spec);
    expect((await ask(credentials)).text).toMatch(/^200/);
    accepted = "another-one";
    tokenAnswers = [token("still-wrong-1")];
    expect((await ask(credentials)).text).toMatch(/^401/);
  });

  test("what may pass is told as such and tried again; a refusal for good is not, and names what to do", async () => {
    const credentials = credentialsOf({ kind: "oauth2", grant: "refresh_token", tokenUrl: `${service.origin}/token`, clientId: "id", refreshToken: "env:REFRESH", clientAuth: "post" });
    accepted = "token-after-all";
    for (const busy of [{ status: 503, body: "<h1>busy</h1>" }, { status: 400, body: { error: "temporarily_unavailable" } }]) {
      tokenAnswers = [busy];
      expect(await client.send({ method: "GET", url: new URL(service.origin), credentials })).toMatchObject({ kind: "failed", reason: "credentials", isTransient: true, isSent: false });
    }
    expect(credentials.problem()).toBeUndefined();
    tokenAnswers = [token("token-after-all", { refresh_token: "refresh-1", expires_in: 100 })];
    expect((await ask(credentials)).text).toMatch(/^200/);
    expect(tokenRequests().at(-1)?.body).toContain("refresh_token=refresh-0");
    nowMs += 95_000;
    tokenAnswers = [{ status: 400, body: { error: "invalid_grant" } }];
    expect((await ask(credentials)).text).toContain("log in again");
    expect(tokenRequests().at(-1)?.body).toContain("refresh_token=refresh-1");
    const asked = tokenRequests().length;
    expect((await ask(credentials)).text).toContain("log in again");
    expect([tokenRequests().length, credentials.problem()]).toEqual([asked, expect.stringContaining("no longer valid")]);
    expect(await client.send({ method: "GET", url: new URL(service.origin), credentials })).toMatchObject({ isTransient: false });
    for (const secret of ["refresh-0", "refresh-1", "token-after-all"]) expect([credentials.secrets().includes(secret), (await ask(credentials)).text.includes(secret)]).toEqual([true, false]);
  });

  test("a caller who gives up leaves the token request to the others", async () => {
    [tokenAnswers, accepted] = [[token("shared-token")], "shared-token"];
    const credentials = credentialsOf(spec);
    const stop = new AbortController();
    const [first, second] = [client.send({ method: "GET", url: new URL(service.origin), credentials, signal: stop.signal }), ask(credentials)];
    stop.abort();
    expect(await first).toMatchObject({ reason: "aborted" });
    expect((await second).text).toMatch(/^200/);
  });

  test("secrets go over https, or stay on this machine", () => {
    expect(() => credentialsOf({ ...spec, tokenUrl: "http://login.test/token" })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
