import { once } from "node:events";
import { resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import { createGuestServer } from "@callgate/sandbox-process";
import type { GuestServerOptions } from "@callgate/sandbox-process";
import { resolveReferences } from "../../config/secret-references.ts";
import { ownPlacesOf } from "../../open-journal.ts";
import { readPem } from "../../remote-sandbox.ts";
import { launcherNames } from "../../launcher-names.ts";
import { launcherOf } from "../../sandbox-driver.ts";
import { userFolders } from "../../state-folder.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";

export interface ServeOptions {
  readonly host?: string;
  readonly port?: number;
  readonly cert?: string;
  readonly key?: string;
  readonly clientCa?: string;
  readonly token?: string;
  readonly guests?: number;
  readonly memory?: number;
  readonly grace?: number;
  readonly idle?: number;
  readonly mount?: readonly string[];
  readonly sandbox?: string;
  readonly unsafePlainLoopback?: boolean;
}

const defaultHost = "127.0.0.1";
const defaultPort = 7_443;
const tokenVariable = "CALLGATE_SANDBOX_TOKEN";

/** `callgate sandbox serve` */
export async function serveSandboxCommand(options: ServeOptions, { terminal, signal }: CommandContext): Promise<ExitCode> {
  const { host = defaultHost, port = defaultPort } = options;
  const sandbox = launcherNames.find((name) => name === (options.sandbox ?? "auto"));
  if (sandbox === undefined || sandbox === "remote" || sandbox === "deno") throw new CallgateError("USAGE", `--sandbox is one of ${launcherNames.filter((name) => name !== "remote" && name !== "deno").join(", ")}, not "${options.sandbox}"`);
  const place = { folder: process.cwd(), env: process.env };
  const launcher = launcherOf({ launcher: sandbox });
  const probe = await launcher.probe();
  if (probe.kind === "unavailable") throw new CallgateError("DRIVER_FAILED", `The sandbox ${launcher.name} does not work here: ${probe.reason}. To do: ${probe.fix}`);
  const server = createGuestServer({ launcher, ...identityOf(options, place), ...boundsOf(options), mounts: (options.mount ?? []).map(mountOf), mountRules: { ownPlaces: ownPlacesOf({}, { ...place, stateFolder: userFolders().state }) }, unsafePlainLoopback: options.unsafePlainLoopback ?? false });
  const { port: bound } = await server.listen({ host, port });
  terminal.err(`Programs run here under ${launcher.name}; ${options.unsafePlainLoopback === true ? "tcp" : "tls"}://${host}:${bound}\n`);
  for (const missing of probe.missing) terminal.err(`missing: ${missing}\n`);
  try {
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await server.close();
  }
  return exitCodes.ok;
}

/** How the server shows who it is, and knows its clients. */
function identityOf({ cert, key, clientCa, token }: ServeOptions, place: Parameters<typeof resolveReferences>[2]): Pick<GuestServerOptions, "tls" | "token"> {
  if ((cert === undefined) !== (key === undefined)) throw new CallgateError("USAGE", "--cert and --key go together");
  if (clientCa !== undefined && cert === undefined) throw new CallgateError("USAGE", "--client-ca needs --cert and --key");
  if (token !== undefined && !/^(env:|file:)/.test(token)) throw new CallgateError("USAGE", "--token is a reference, env:NAME or file:PATH: what stands in a command line is read by everyone on this host");
  const reference = token ?? (process.env[tokenVariable] === undefined ? undefined : `env:${tokenVariable}`);
  const secret = reference === undefined ? undefined : resolveReferences({ token: reference }, "--token", place).values["token"]?.trim();
  return {
    ...(cert === undefined || key === undefined ? {} : { tls: { cert: readPem(cert, "--cert"), key: readPem(key, "--key"), ...(clientCa === undefined ? {} : { clientCa: readPem(clientCa, "--client-ca") }) } }),
    ...(secret === undefined ? {} : { token: secret }),
  };
}

function boundsOf({ guests, memory, grace, idle }: ServeOptions): Pick<GuestServerOptions, "bounds"> {
  const seconds = 1_000;
  return { bounds: { ...(guests === undefined ? {} : { guests }), ...(memory === undefined ? {} : { memoryMiB: memory }), ...(grace === undefined ? {} : { graceMs: grace * seconds }), ...(idle === undefined ? {} : { idleMs: idle * seconds }) } };
}

function mountOf(text: string): NonNullable<GuestServerOptions["mounts"]>[number] {
  return text.endsWith(":rw") ? { host: resolve(text.slice(0, -3)), mode: "rw" } : { host: resolve(text), mode: "ro" };
}
