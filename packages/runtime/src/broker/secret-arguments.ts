import type { WireValue } from "@callgate/contract";
import type { Ended, ReadyCall } from "./call.ts";
import { ended } from "./ended.ts";

/** The arguments as the tool's own code gets them: with the values of the secrets they name. Nobody else is given these. */
export function takeArguments({ args, seams, tool }: Pick<ReadyCall, "args" | "seams" | "tool">): unknown {
  const taken = args.take();
  return seams.secrets === undefined ? taken : seams.secrets.reveal(taken, tool.name);
}

/** The end of a call that names a secret its tool may not have. */
export function refuseSecrets({ args, seams, tool }: ReadyCall): Ended | undefined {
  const why = seams.secrets?.refusal(args.value, tool.name);
  return why === undefined ? undefined : ended({ outcome: "denied", code: "SECRET_REFUSED", tool: tool.name, message: `${why}. It did not happen; which tool may be given which secret is for whoever keeps the configuration.` });
}

/** An answer without the values of secrets; undefined where they cannot be taken out of it. */
export function concealSecrets({ seams }: Pick<ReadyCall, "seams">, wire: WireValue): WireValue | undefined {
  return seams.secrets === undefined ? wire : seams.secrets.conceal(wire);
}
