import { execFileSync } from "node:child_process";
import { CallgateError } from "@callgate/contract";

export interface KeychainHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: this system's. */
  readonly platform?: NodeJS.Platform;
}

/** An entry that asks its user to unlock it may take as long as they do. */
const timeoutMs = 60_000;

/**
 * Reads `SERVICE/ACCOUNT` from the keychain of the operating system, by the system's own command: `security` on macOS,
 * `secret-tool` (libsecret) elsewhere. What comes of it is nowhere but in the value that is returned.
 *
 * Errors: `CallgateError` CONFIG_INVALID naming `place`, what is missing and the command that puts it there; never the value.
 */
export function readKeychain(entry: string, place: string, { env, platform = process.platform }: KeychainHost): string {
  const slash = entry.lastIndexOf("/");
  const [service, account] = [entry.slice(0, slash), entry.slice(slash + 1)];
  const refused = (why: string, cause?: unknown): CallgateError => new CallgateError("CONFIG_INVALID", `${place} refers to the keychain entry ${entry}: ${why}`, { cause });
  if (slash < 1 || account === "") throw refused("write it as keychain:SERVICE/ACCOUNT");
  if (platform === "win32") throw refused("Windows has no command that reads its credentials; write env:NAME or file:PATH in its place");
  const { command, args, toPut } = commandOf(service, account, platform);
  let value: string;
  try {
    // Its own words may say more than a log should have.
    value = execFileSync(command, args, { encoding: "utf8", env: { ...env }, timeout: timeoutMs, stdio: ["ignore", "pipe", "ignore"], windowsHide: true }).replace(/\r?\n$/, "");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") throw refused(`${command} is not installed${command === "secret-tool" ? " (package libsecret-tools)" : ""}; install it, or write env:NAME or file:PATH in its place`);
    throw refused(`${command} did not give it: it is not there, or the keychain is locked. To put it there: ${toPut}`);
  }
  if (value === "") throw refused(`it is not there. To put it there: ${toPut}`);
  return value;
}

function commandOf(service: string, account: string, platform: NodeJS.Platform): { readonly command: string; readonly args: readonly string[]; readonly toPut: string } {
  if (platform === "darwin") return { command: "security", args: ["find-generic-password", "-s", service, "-a", account, "-w"], toPut: `security add-generic-password -s ${service} -a ${account} -w` };
  return { command: "secret-tool", args: ["lookup", "service", service, "account", account], toPut: `secret-tool store --label=${service} service ${service} account ${account}` };
}
