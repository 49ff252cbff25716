import { readFileSync } from "node:fs";

/**
 * Whether this process may surely make user namespaces, which bubblewrap cannot do without. False where something may stand
 * in the way: a setting of the kernel, or a filter of system calls, as containers have it, of which nobody can tell what
 * it refuses but by trying.
 */
export function canSurelyMakeNamespaces(read: (file: string) => string | undefined = readText): boolean {
  const isRoot = process.getuid?.() === 0;
  const setting = (file: string): string | undefined => read(`/proc/sys/${file}`)?.trim();
  if (setting("user/max_user_namespaces") === "0") return false;
  if (/^Seccomp:\s*0$/m.test(read("/proc/self/status") ?? "") === false) return false;
  // Debian's and Ubuntu's own; other kernels do not have them.
  return isRoot || (setting("kernel/unprivileged_userns_clone") !== "0" && ["0", undefined].includes(setting("kernel/apparmor_restrict_unprivileged_userns")));
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
