import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { httpClients, metricsTokenSha256 } from "./http-clients.ts";

const profiles = { ann: { user: "ann", roles: ["clerk"] }, bea: { user: "bea" } };
const digest = createHash("sha256").update("token of ann, long").digest("hex");

test("a client is known by the digest of its token and acts as its profile", () => {
  const config = { principal: { tenant: "acme" }, profiles, mcp: { clients: [{ profile: "ann", token: "env:ANN" }, { profile: "bea", tokenSha256: "ab".repeat(32) }] } };
  expect(httpClients({ config, folder: "." }, { ANN: "token of ann, long" })).toEqual([
    { tokenSha256: digest, principal: { tenant: "acme", user: "ann", roles: ["clerk"], claims: {} } },
    { tokenSha256: "ab".repeat(32), principal: { tenant: "acme", user: "bea", roles: [], claims: {} } },
  ]);
});

test.each([
  [{ profile: "eve", token: "env:ANN" }, "There is no profile"],
  [{ profile: "ann", token: "env:NOBODY" }, "NOBODY"],
  [{ profile: "ann", token: "env:SHORT" }, "at least 16"],
])("%j is refused with what is wrong, and without the token", (client, why) => {
  expect(() => httpClients({ config: { profiles, mcp: { clients: [client] } }, folder: "." }, { ANN: "token of ann, long", SHORT: "short-one" })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringMatching(new RegExp(`^(?!.*short-one).*${why}`)) as string }) as Error);
});

test("the metrics have a token of their own, or none is known", () => {
  const env = { METRICS: "token of ann, long", SHORT: "short-one" };
  expect(metricsTokenSha256({ config: { mcp: { metrics: { token: "env:METRICS" } } }, folder: "." }, env)).toBe(digest);
  expect(metricsTokenSha256({ config: { mcp: {} }, folder: "." }, env)).toBeUndefined();
  expect(() => metricsTokenSha256({ config: { mcp: { metrics: { token: "env:SHORT" } } }, folder: "." }, env)).toThrow("mcp.metrics.token must have at least 16");
});
