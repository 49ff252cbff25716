import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import { createRemoteLauncher } from "@callgate/sandbox-process";
import type { Launcher, RemoteOptions } from "@callgate/sandbox-process";
import type { SandboxConfig } from "./config/config-schema.ts";
import { resolveReferences } from "./config/secret-references.ts";

export interface RemoteSandbox {
  readonly launcher: Launcher;
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

/**
 * The launcher of `sandbox.remote`.
 *
 * Errors: `CallgateError` CONFIG_INVALID for a reference or a file that is not there, or options that cannot be meant.
 */
export function remoteSandbox(config: SandboxConfig["remote"], place: { readonly folder: string; readonly env: Readonly<Record<string, string | undefined>> }): RemoteSandbox {
  if (config === undefined) throw new CallgateError("CONFIG_INVALID", 'sandbox.launcher is "remote", and sandbox.remote does not say where: { "url": "tls://host:port", "token": "env:NAME" }');
  const { url, token, ca, cert, key, unsafePlainLoopback } = config;
  const { values, secrets } = resolveReferences(token === undefined ? {} : { token }, "sandbox.remote", place);
  const pem = (name: "ca" | "cert" | "key", file: string | undefined): Partial<RemoteOptions> => (file === undefined ? {} : { [name]: readPem(resolve(place.folder, file), `sandbox.remote.${name}`) });
  const launcher = createRemoteLauncher({
    url,
    ...(values["token"] === undefined ? {} : { token: values["token"] }),
    ...pem("ca", ca),
    ...pem("cert", cert),
    ...pem("key", key),
    ...(unsafePlainLoopback === undefined ? {} : { unsafePlainLoopback }),
  });
  return { launcher, secrets };
}

/** @param option what errors name */
export function readPem(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CallgateError("CONFIG_INVALID", `${option}: the file ${file} cannot be read`);
  }
}
