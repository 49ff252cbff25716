import { CallgateError } from "@callgate/contract";
import type { RunSignal, RunStart } from "@callgate/contract";
import { signalName } from "./signal-codec.ts";

/** Names are compared as the store keeps them: half a surrogate pair would come back as another name. */
export function assertNames({ runId, principal }: RunStart): void {
  assertPlain(`Cannot begin run ${JSON.stringify(runId)}`, [runId, principal.tenant, principal.user, principal.agent ?? "", principal.task ?? ""]);
}

export function assertSignalNames(signal: RunSignal): void {
  const { name, key } = signalName(signal);
  assertPlain("Cannot keep the signal", [name, key ?? ""]);
}

export function assertPlain(what: string, names: readonly string[]): void {
  for (const name of names) {
    if (!name.isWellFormed() || name.includes("\0")) throw new CallgateError("USAGE", `${what}: ${JSON.stringify(name)} is no name (it holds a NUL or half a character)`);
  }
}
