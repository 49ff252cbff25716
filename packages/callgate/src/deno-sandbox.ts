import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { SandboxDriver } from "@callgate/contract";
import type { Launcher } from "@callgate/sandbox-process";
import type * as DenoSandboxPackage from "@callgate/sandbox-deno";
import type { SandboxConfig } from "./config/config-schema.ts";
import { userFolders } from "./state-folder.ts";

type DenoSandbox = typeof DenoSandboxPackage;

const reason = "the package @callgate/sandbox-deno is not installed";
const fix = "npm i @callgate/sandbox-deno";

/** The sandbox in Deno, when its package is installed; it weighs 110 MB, so `npm i callgate` does without. */
export async function loadDenoSandbox(): Promise<DenoSandbox | undefined> {
  try {
    return await import("@callgate/sandbox-deno");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ERR_MODULE_NOT_FOUND" && thrown.message.includes("@callgate/sandbox-deno")) return undefined;
    throw thrown;
  }
}

/** The launcher of Deno, or one that says how to get it. */
export async function denoLauncher(): Promise<Launcher> {
  const deno = await loadDenoSandbox();
  return deno?.createDenoLauncher() ?? { name: "deno", probe: () => Promise.resolve({ kind: "unavailable", reason, fix }), launch: () => missing() };
}

/** Python out of npm: Pyodide. */
export function denoPython(deno: DenoSandbox, { maxGuests, warm, wheels }: Pick<SandboxConfig, "maxGuests" | "warm" | "wheels">): SandboxDriver {
  return deno.createPyodideDriver({ cacheFolder: join(userFolders().state, "python"), ...(maxGuests === undefined ? {} : { maxGuests }), ...(warm === undefined ? {} : { warm }), ...(wheels === undefined ? {} : { wheels }) });
}

/** All programs in Deno: JavaScript, TypeScript and Python. Throws `CallgateError` CONFIG_INVALID where it is not installed, and for what it cannot give. */
export async function denoDrivers(config: SandboxConfig): Promise<readonly SandboxDriver[]> {
  const deno = (await loadDenoSandbox()) ?? missing();
  const given = (["mounts", "environment", "network", "languages"] as const).find((name) => config[name] !== undefined);
  if (given !== undefined) throw new CallgateError("CONFIG_INVALID", `sandbox.${given} does not go with the sandbox deno: its programs have no files, environment, network or commands. Remove it, or use another sandbox.launcher`);
  if (config.javascript === "node") throw new CallgateError("CONFIG_INVALID", 'sandbox.javascript "node" does not go with the sandbox deno, which runs JavaScript itself. Remove it, or use another sandbox.launcher');
  const { maxGuests, warm } = config;
  return [deno.createDenoDriver({ ...(maxGuests === undefined ? {} : { maxGuests }), ...(warm === undefined ? {} : { warm }) }), denoPython(deno, config)];
}

function missing(): never {
  throw new CallgateError("CONFIG_INVALID", `The sandbox deno cannot be used: ${reason}. To do: ${fix}`);
}
