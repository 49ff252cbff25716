import { createHttpClient } from "@callgate/http-client";
import { describe, expect, test } from "vitest";
import type { HttpOperation, SecurityScheme } from "./http-operation.ts";
import { createServiceFinder } from "./service-finder.ts";
import type { ServiceFinderOptions } from "./service-finder.ts";

const operation: HttpOperation = { method: "GET", path: "/a", servers: ["https://api.example/v1"], parameters: [], responses: [], security: [[{ scheme: "key", scopes: [] }]] };
const schemes: Readonly<Record<string, SecurityScheme>> = { key: { type: "apiKey", in: "header", name: "X-Key" }, user: { type: "http", scheme: "bearer" } };

function finder(options: Partial<ServiceFinderOptions> = {}) {
  const clock = { now: () => 0, monotonic: () => 0, schedule: () => ({ cancel: () => undefined }) };
  return createServiceFinder({ namespace: "api", location: "/work/api.yaml", client: createHttpClient(), credentialsHost: { read: (reference) => `secret-of-${reference}`, fetch: () => Promise.reject(new Error("no tokens here")), clock }, ...options });
}

/** The headers that the credentials of an operation put on a request. */
async function sent(options: Partial<ServiceFinderOptions>, one: HttpOperation = operation): Promise<readonly (readonly [string, string])[]> {
  const { credentials } = finder(options).serviceOf(one, schemes);
  const applied = await credentials?.apply({ url: new URL("https://api.example/v1/a"), headers: [] }, new AbortController().signal);
  return applied?.kind === "applied" ? applied.headers : [];
}

describe("where an operation is called", () => {
  test("is what the user says, else what the document says, also relative to where it is from", () => {
    expect(finder().serviceOf(operation, {}).server.href).toBe("https://api.example/v1");
    expect(finder({ server: "http://localhost:8080" }).serviceOf(operation, {}).server.href).toBe("http://localhost:8080/");
    expect(finder({ location: "https://docs.example/openapi.json" }).serviceOf({ ...operation, servers: ["/v2"] }, {}).server.href).toBe("https://docs.example/v2");
    expect(finder({ location: "https://docs.example/openapi.json" }).serviceOf({ ...operation, servers: [] }, {}).server.href).toBe("https://docs.example/");
  });

  test.each([[[]], [["/v2"]], [["ftp://x"]]])("is not known from %j in a file", (servers) => {
    expect(() => finder().serviceOf({ ...operation, servers }, {})).toThrow(/Nobody says where the service of api is.*"server"/);
  });
});

describe("credentials", () => {
  test("go as the document says where only a secret is given", async () => {
    expect(await sent({ auth: "env:K" })).toEqual([["X-Key", "secret-of-env:K"]]);
    expect(await sent({ auth: "env:K" }, { ...operation, security: [] })).toEqual([["X-Key", "secret-of-env:K"]]);
    expect(await sent({ auth: "env:K" }, { ...operation, security: [[{ scheme: "user", scopes: [] }]] })).toEqual([["authorization", "Bearer secret-of-env:K"]]);
  });

  test("by scheme are those of the first alternative that is there as a whole", async () => {
    const both: HttpOperation = { ...operation, security: [[{ scheme: "other", scopes: [] }], [{ scheme: "key", scopes: [] }, { scheme: "user", scopes: [] }]] };
    expect(await sent({ auth: { key: "env:A", user: { kind: "bearer", token: "env:B" } } }, both)).toEqual([["X-Key", "secret-of-env:A"], ["authorization", "Bearer secret-of-env:B"]]);
    expect(await sent({ auth: { key: "env:A" } }, both)).toEqual([]);
  });

  test("are made once for a service, so that a token serves all its operations", () => {
    const one = finder({ auth: "env:K" });
    expect(one.serviceOf(operation, schemes).credentials).toBe(one.serviceOf({ ...operation, path: "/b" }, schemes).credentials);
  });

  test("are not sent to a server that only a document from elsewhere names, until the user names it", () => {
    const location = "https://docs.example/openapi.json";
    expect(() => finder({ location, auth: "env:K" }).serviceOf(operation, schemes)).toThrow(/credentials are not sent there.*"server": "https:\/\/api.example"/);
    expect(finder({ location, auth: "env:K", server: "https://api.example" }).serviceOf(operation, schemes).credentials).toBeDefined();
    expect(finder({ location, auth: "env:K" }).serviceOf({ ...operation, servers: ["/v1"] }, schemes).credentials?.origins).toEqual(new Set(["https://docs.example"]));
    expect(finder({ location }).serviceOf(operation, schemes).credentials).toBeUndefined();
  });
});
