import { describe, expect, test } from "vitest";
import { canSurelyMakeNamespaces } from "./user-namespaces.ts";

const free = { "/proc/sys/user/max_user_namespaces": "96365\n", "/proc/self/status": "Name:\tnode\nSeccomp:\t0\n" };
const asked = (files: Readonly<Record<string, string>>): boolean => canSurelyMakeNamespaces((file) => files[file]);

describe("canSurelyMakeNamespaces", () => {
  test("is sure where nothing stands in the way, and not where something may", () => {
    expect(asked(free)).toBe(true);
    expect(asked({ ...free, "/proc/sys/user/max_user_namespaces": "0\n" })).toBe(false);
    expect(asked({ ...free, "/proc/self/status": "Seccomp:\t2\n" })).toBe(false);
    expect(asked({ "/proc/sys/user/max_user_namespaces": "10\n" })).toBe(false);
    const isRoot = process.getuid?.() === 0;
    expect(asked({ ...free, "/proc/sys/kernel/unprivileged_userns_clone": "0\n" })).toBe(isRoot);
    expect(asked({ ...free, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" })).toBe(isRoot);
    expect(asked({ ...free, "/proc/sys/kernel/unprivileged_userns_clone": "1\n", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "0\n" })).toBe(true);
  });
});
