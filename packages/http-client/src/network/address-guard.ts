import { BlockList, isIP } from "node:net";
import { CallgateError } from "@callgate/contract";

/** Addresses that are not for everybody. */
export interface DeniedRange {
  readonly cidr: string;
  /** What is there, in words. */
  readonly is: string;
}

/**
 * Addresses that belong to this machine, its network or nobody: the special-purpose registries of IANA, and where clouds
 * keep the credentials of a machine. IPv6 forms that carry one of the IPv4 ranges are derived below.
 */
const specialRanges: readonly DeniedRange[] = [
  { cidr: "0.0.0.0/8", is: "this host" },
  { cidr: "10.0.0.0/8", is: "a private network" },
  { cidr: "100.64.0.0/10", is: "a provider's inner network" },
  { cidr: "127.0.0.0/8", is: "this host (loopback)" },
  { cidr: "169.254.0.0/16", is: "link-local, where clouds keep credentials" },
  { cidr: "172.16.0.0/12", is: "a private network" },
  { cidr: "192.0.0.0/24", is: "reserved for protocols" },
  { cidr: "192.0.2.0/24", is: "for documentation" },
  { cidr: "192.88.99.0/24", is: "a retired relay" },
  { cidr: "192.168.0.0/16", is: "a private network" },
  { cidr: "198.18.0.0/15", is: "for measurements of inner networks" },
  { cidr: "198.51.100.0/24", is: "for documentation" },
  { cidr: "203.0.113.0/24", is: "for documentation" },
  { cidr: "224.0.0.0/4", is: "multicast" },
  { cidr: "255.255.255.255/32", is: "broadcast" },
  { cidr: "240.0.0.0/4", is: "reserved" },
  { cidr: "::/128", is: "this host" },
  { cidr: "::1/128", is: "this host (loopback)" },
  { cidr: "::/96", is: "a retired form of IPv4 addresses" },
  { cidr: "64:ff9b:1::/48", is: "translation inside a network" },
  { cidr: "100::/64", is: "a discard range" },
  { cidr: "2001::/32", is: "Teredo" },
  { cidr: "2001:db8::/32", is: "for documentation" },
  { cidr: "3fff::/20", is: "for documentation" },
  { cidr: "5f00::/16", is: "for segment routing" },
  { cidr: "fc00::/7", is: "a private network" },
  { cidr: "fe80::/10", is: "link-local" },
  { cidr: "fec0::/10", is: "a retired private range" },
  { cidr: "ff00::/8", is: "multicast" },
];

/** Forms of IPv6 that carry an IPv4 address: the same rules hold for what they carry. */
const carriers: readonly ((address: string, prefix: number) => string)[] = [
  (address, prefix) => `::ffff:${address}/${96 + prefix}`, // mapped
  (address, prefix) => `64:ff9b::${address}/${96 + prefix}`, // NAT64
  (address, prefix) => `2002:${hextets(address)}::/${16 + prefix}`, // 6to4
];

const ranges: readonly { readonly range: DeniedRange; readonly list: BlockList }[] = specialRanges.flatMap((range) => {
  const { address, prefix, family } = split(range.cidr) ?? { address: "", prefix: 0, family: "ipv6" };
  const all = family === "ipv4" ? [range.cidr, ...carriers.map((carry) => carry(address, prefix))] : [range.cidr];
  return all.map((cidr) => ({ range, list: listOf(cidr) }));
});

/** Says why an address may not be reached; undefined where it may. */
export type AddressGuard = (address: string) => DeniedRange | undefined;

/**
 * @param unsafeRanges parts of the denied ranges that a person opened, as CIDR
 * @param place how errors name them, e.g. `sandbox.network.unsafeRanges`
 *
 * Throws `CallgateError` CONFIG_INVALID for one that is no CIDR, or not inside a denied range: it would open nothing, and
 * one like 0.0.0.0/0 would open everything by accident.
 */
export function createAddressGuard(unsafeRanges: readonly string[] = [], place = "unsafeRanges"): AddressGuard {
  const opened = unsafeRanges.map((cidr) => {
    const range = split(cidr);
    const within = range === undefined ? undefined : specialRanges.find(({ cidr: special }) => contains(special, range));
    if (range === undefined || within === undefined) throw new CallgateError("CONFIG_INVALID", `${place}: "${cidr}" is not part of a range that is denied. Name the smallest range that is needed, such as 10.1.2.0/24 or 127.0.0.1/32`);
    return listOf(cidr);
  });
  return (address) => {
    const family = familyOf(address);
    if (family === undefined) return { cidr: address, is: "no address" };
    if (opened.some((list) => list.check(address, family))) return undefined;
    return ranges.find(({ list }) => list.check(address, family))?.range;
  };
}

interface SplitRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

function split(cidr: string): SplitRange | undefined {
  const [, address = "", digits = ""] = /^([0-9a-f:.]+)\/(\d{1,3})$/i.exec(cidr) ?? [];
  const family = familyOf(address);
  const prefix = Number(digits);
  return family === undefined || digits === "" || prefix > (family === "ipv4" ? 32 : 128) ? undefined : { address, prefix, family };
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6";
}

function contains(outer: string, inner: SplitRange): boolean {
  const around = split(outer);
  return around !== undefined && around.family === inner.family && around.prefix <= inner.prefix && listOf(outer).check(inner.address, inner.family);
}

function listOf(cidr: string): BlockList {
  const range = split(cidr);
  const list = new BlockList();
  if (range !== undefined) list.addSubnet(range.address, range.prefix, range.family);
  return list;
}

function hextets(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
