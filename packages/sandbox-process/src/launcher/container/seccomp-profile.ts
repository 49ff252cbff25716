import { readFileSync } from "node:fs";
import { deniedCalls } from "../bubblewrap/system-calls.ts";

/** One rule of an engine's profile; other fields are kept as they are. */
interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly [field: string]: unknown;
}

interface Profile {
  readonly defaultAction: string;
  readonly syscalls: readonly Rule[];
  readonly [field: string]: unknown;
}

/** Where Podman's packages put its profile, a list of what is allowed; an administrator's own comes first. */
const places = ["/etc/containers/seccomp.json", "/usr/share/containers/seccomp.json"];

/** EAFNOSUPPORT. */
const noFamily = 97;

/** New namespaces of every kind, of linux/sched.h. */
const namespaceFlags = 0x7e020000;
const flagsOf = (mask: number): readonly number[] => Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((flag) => Math.floor(mask / flag) % 2 === 1);

/** AF_UNIX, AF_INET, AF_INET6: all that a program may make sockets of. */
const families = [1, 2, 10];

/**
 * Podman's profile without what it allows for containers in containers: namespaces, mounts, tracing, keys; and without
 * io_uring; sockets of the three families only, which no engine's own profile sees to. Without a profile on this machine:
 * all calls but those, as for bubblewrap.
 */
export function hardenedProfile(): object {
  const base = readProfile();
  const denied = deniedCalls.map(([name]) => name);
  const refuse = (names: readonly string[], errnoRet: number): Rule => ({ names, action: "SCMP_ACT_ERRNO", errnoRet });
  const common = [refuse(denied, 1), refuse(["clone3"], 38)];
  if (base === undefined) {
    const clones = flagsOf(namespaceFlags).map((flag) => ({ ...refuse(["clone"], 1), args: [{ index: 0, value: flag, valueTwo: flag, op: "SCMP_CMP_MASKED_EQ" }] }));
    const unspoken = Array.from({ length: 11 }, (_, family) => family).filter((family) => !families.includes(family));
    const sockets = [...unspoken.map((family) => ({ value: family, op: "SCMP_CMP_EQ" })), { value: 10, op: "SCMP_CMP_GT" }].map((arg) => ({ ...refuse(["socket", "socketpair"], noFamily), args: [{ index: 0, valueTwo: 0, ...arg }] }));
    return { defaultAction: "SCMP_ACT_ALLOW", syscalls: [...common, ...clones, ...sockets] };
  }
  const judged = new Set([...denied, "clone", "clone3", "socket", "socketpair"]);
  const kept = base.syscalls.map((rule) => ({ ...rule, names: rule.names.filter((name) => !judged.has(name)) })).filter(({ names }) => names.length > 0);
  const clone: Rule = { names: ["clone"], action: "SCMP_ACT_ALLOW", args: [{ index: 0, value: namespaceFlags, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }] };
  const sockets = families.map((family): Rule => ({ names: ["socket", "socketpair"], action: "SCMP_ACT_ALLOW", args: [{ index: 0, value: family, valueTwo: 0, op: "SCMP_CMP_EQ" }] }));
  return { ...base, syscalls: [...kept, ...common, clone, ...sockets] };
}

function readProfile(): Profile | undefined {
  for (const place of places) {
    try {
      const read = JSON.parse(readFileSync(place, "utf8")) as Partial<Profile>;
      if (read.defaultAction !== undefined && Array.isArray(read.syscalls)) return read as Profile;
    } catch {} // Not there, or no profile.
  }
  return undefined;
}
