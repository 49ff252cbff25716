import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createOriginGuard, originOf } from "./origin-guard.ts";

const casesUrl = new URL("../../../../shared/cases/net_deny.json", import.meta.url);
const cases = existsSync(casesUrl) ? (JSON.parse(readFileSync(casesUrl, "utf8")) as { readonly spellings_to_test: readonly string[] }).spellings_to_test : undefined;
const skipped = cases === undefined ? " (skipped: ../shared/cases is not beside the repository)" : "";
/** Every name leads to loopback, but for one that is public. */
const resolve = (host: string): Promise<readonly string[]> => Promise.resolve(host === "allowed.test" ? ["93.184.216.34"] : ["127.0.0.1"]);

describe.skipIf(cases === undefined)(`net_deny: spellings${skipped}`, () => {
  test.each(cases ?? [])("%s", async (row) => {
    const [, text = ""] = /^(\S+?)(?: \(.*\))?$/.exec(row) ?? [];
    const url = URL.parse(text);
    // What the parser reads as no URL is never sent; what carries a user is refused by the client (http-011).
    if (url === null || url.username !== "") return expect(text).toMatch(/%00|@/);
    // Read as another host, it goes to that host: who connects reads it with the same parser.
    if (url.hostname === "allowed.test") return expect(await createOriginGuard({ resolve })(url.origin)).toEqual({ kind: "allowed", addresses: ["93.184.216.34"] });
    expect(await createOriginGuard({ resolve })(url.origin), url.origin).toMatchObject({ kind: "refused", message: expect.stringContaining("127.0.0.0/8") });
  });
});

describe("createOriginGuard", () => {
  test("what is written down is exactly one origin", async () => {
    const guard = createOriginGuard({ namedOrigins: ["http://LOCALHOST:3000/path", "https://inner.test", "http://169.254.169.254"], resolve: (host) => Promise.resolve(host === "inner.test" ? ["10.1.2.3", "fd00::1"] : ["127.0.0.1", "::1"]) });
    for (const origin of ["http://localhost:3000", "https://inner.test", "http://169.254.169.254"]) expect((await guard(origin)).kind, origin).toBe("allowed");
    for (const origin of ["http://localhost:3001", "https://localhost:3000", "http://inner.test", "https://inner.test:8443", "https://a.inner.test", "http://169.254.169.253"]) expect((await guard(origin)).kind, origin).toBe("refused");
  });

  test("a name that is written down leads to no link-local, reserved or multicast address", async () => {
    for (const address of ["169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1", "::ffff:169.254.169.254", "100::1"]) {
      expect((await createOriginGuard({ namedOrigins: ["http://api.test"], resolve: () => Promise.resolve([address]) })("http://api.test")).kind, address).toBe("refused");
    }
  });

  test("an origin that is none is an error of the configuration", () => {
    for (const wrong of ["", "*", "api.test", "ftp://api.test", "file:///etc"]) expect(() => originOf(wrong), wrong).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
