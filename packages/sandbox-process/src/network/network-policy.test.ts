import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createAddressGuard, parseTarget } from "@callgate/http-client/network";
import { createNetworkPolicy } from "./network-policy.ts";

interface DenyCases {
  readonly spellings_to_test: readonly string[];
}

const casesUrl = new URL("../../../../../shared/cases/net_deny.json", import.meta.url);
const cases = existsSync(casesUrl) ? (JSON.parse(readFileSync(casesUrl, "utf8")) as DenyCases) : undefined;
const skipped = cases === undefined ? " (skipped: ../shared/cases is not beside the repository)" : "";

describe.skipIf(cases === undefined)(`net_deny: spellings${skipped}`, () => {
  /** The policy that is easiest to fool: the names in the cases are allowed, and every one that resolves goes to loopback. */
  const allow = ["127.0.0.1:80", "localhost:80", "[::1]:80", "127.0.0.1.nip.test:80", "allowed.test:80", "[::ffff:127.0.0.1]:80"];
  const policy = createNetworkPolicy({ allow, resolve: (host) => Promise.resolve(host === "allowed.test" ? ["93.184.216.34"] : ["127.0.0.1"]) });
  test.each(cases?.spellings_to_test ?? [])("%s", async (row) => {
    const [, authority = ""] = /^http:\/\/(.*)\/(?: \(.*\))?$/.exec(row) ?? [];
    expect(authority).not.toBe("");
    const target = parseTarget(authority, 80);
    // Either it cannot be read at all, or it is what it leads to.
    expect(target === undefined, authority).toBe(/[@#%\\]/.test(authority));
    if (target !== undefined) expect(await policy(target), JSON.stringify(target)).toMatchObject({ kind: "denied", rule: "denied-range", message: expect.stringContaining("unsafeRanges") });
  });
});

describe("createNetworkPolicy", () => {
  const resolve = (host: string): Promise<readonly string[]> => Promise.resolve(host === "api.example.com" ? ["93.184.216.34", "2606:4700::1111"] : ["93.184.216.35"]);
  const target = (text: string): ReturnType<typeof parseTarget> => parseTarget(text);
  const judge = async (allow: readonly string[], text: string): Promise<string> => {
    const asked = target(text);
    return asked === undefined ? "malformed" : (await createNetworkPolicy({ allow, resolve })(asked)).kind;
  };

  test("http-016: labels are compared whole, in their one spelling; what is no name is none", async () => {
    const allow = ["allowed.test:443", "bücher.test:443", "[2606:4700:0::1111]:443"];
    for (const same of ["allowed.test:443", "ALLOWED.TEST.:443", "allowed.test.:443", "BÜCHER.test:443", "xn--bcher-kva.test:443", "[2606:4700::1111]:443", "[2606:4700:0:0::1111]:443"]) expect(await judge(allow, same), same).toBe("allowed");
    for (const other of ["evilallowed.test:443", "allowed.test.evil.test:443", "evil.test:443", "allowed.test:80", "allowed.test:4430", "93.184.216.34:443", "sub.allowed.test:443", "аllowed.test:443"]) expect(await judge(allow, other), other).toBe("denied");
    for (const none of ["evil.test\u0000.allowed.test:443", "user@evil.test:443", "allowed.test@evil.test:443", "allowed.test", "allowed.test:0", "allowed.test:65536", "allowed.test:443:80", "allowed.test:+443", "allowed.test..:443", ".allowed.test:443", ":443", "allowed.test\r\nX: y:443", "allowed.test%2eevil.test:443", "*:443", "allowed.test/:443", "allowed.test\\:443", "[::1:443", `${"a.".repeat(130)}test:443`]) expect(await judge(allow, none), none).toBe("malformed");
  });

  test("http-017: an empty list denies; a list that says nothing, or everything, is an error of the configuration", async () => {
    expect(await judge([], "allowed.test:443")).toBe("denied");
    for (const wrong of ["", "*", "*:443", "*.test:443", "allowed.test", "https://allowed.test", "allowed.test:443/path"]) expect(() => createNetworkPolicy({ allow: [wrong] }), wrong).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  test("one denied address among good ones refuses the name", async () => {
    const mixed = createNetworkPolicy({ allow: ["a.test:443"], resolve: () => Promise.resolve(["93.184.216.34", "10.0.0.1"]) });
    expect(await mixed({ host: "a.test", port: 443 })).toMatchObject({ kind: "denied", rule: "denied-range" });
  });

  test("a range opens only where it is named, and only as far", async () => {
    const opened = createNetworkPolicy({ allow: ["10.1.2.3:80", "10.1.3.3:80", "169.254.169.254:80"], unsafeRanges: ["10.1.2.0/24"] });
    expect((await opened({ host: "10.1.2.3", port: 80 })).kind).toBe("allowed");
    expect((await opened({ host: "10.1.3.3", port: 80 })).kind).toBe("denied");
    expect((await opened({ host: "169.254.169.254", port: 80 })).kind).toBe("denied");
    for (const wrong of ["0.0.0.0/0", "::/0", "8.8.8.0/24", "10.0.0.0/7", "10.0.0.0", "10.0.0.0/33", "all"]) expect(() => createAddressGuard([wrong]), wrong).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  test("a name that has no address is no denial", async () => {
    const lost = createNetworkPolicy({ allow: ["a.test:443"], resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    expect((await lost({ host: "a.test", port: 443 })).kind).toBe("unresolved");
  });
});
