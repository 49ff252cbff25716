import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createAddressGuard } from "./address-guard.ts";

interface DenyCases {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
}

const casesUrl = new URL("../../../../../shared/cases/net_deny.json", import.meta.url);
const cases = existsSync(casesUrl) ? (JSON.parse(readFileSync(casesUrl, "utf8")) as DenyCases) : undefined;
const skipped = cases === undefined ? " (skipped: ../shared/cases is not beside the repository)" : "";

/** First and last address of an IPv4 range. */
function ends(cidr: string): readonly string[] {
  const [address = "", prefix = ""] = cidr.split("/");
  const first = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = first + 2 ** (32 - Number(prefix)) - 1;
  return [first, last].map((number) => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join("."));
}

function carriersOf(address: string): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  const hex = (high: number, low: number): string => (high * 256 + low).toString(16);
  return [`::ffff:${address}`, `::ffff:${hex(a, b)}:${hex(c, d)}`, `64:ff9b::${address}`, `2002:${hex(a, b)}:${hex(c, d)}::1`];
}

describe.skipIf(cases === undefined)(`net_deny: ranges${skipped}`, () => {
  const guard = createAddressGuard();
  test.each(cases?.ipv4 ?? [])("%s: first and last address, and every IPv6 form that carries them", (cidr) => {
    for (const address of ends(cidr)) for (const form of [address, ...carriersOf(address)]) expect(guard(form), form).toBeDefined();
  });
  test.each(cases?.ipv6 ?? [])("%s", (row) => {
    const [cidr = ""] = row.split(" ");
    const [address = ""] = cidr.split("/");
    // Rows that say "re-check embedded" are judged by what they carry: nothing at all is 0.0.0.0, which is denied.
    for (const inside of [address, ...(row.includes("embedded") || cidr.endsWith("/128") ? [] : [address.replace(/::$/, "::9")])]) expect(guard(inside), inside).toBeDefined();
  });
  test("positive control: what is outside of them is not denied, nor carried forms of it", () => {
    for (const address of ["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", ...carriersOf("8.8.8.8")]) expect(guard(address), address).toBeUndefined();
  });
});
