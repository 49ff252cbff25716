import { CallgateError } from "@callgate/contract";
import type { GivenGrant, GrantView } from "@callgate/contract";
import { answererOf, proveApprover } from "../approver-credential.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { visible } from "../terminal.ts";
import { timeText } from "../time-of.ts";
import { argumentText } from "./call.ts";

const dayMs = 86_400_000;

export interface AddGrantOptions {
  readonly args?: string;
  readonly uses: number;
  readonly days?: number;
  readonly for: string;
  readonly agent?: string;
  readonly anyVersion?: boolean;
}

/** `callgate grants add TOOL [JSON]`: its source has to be here, for the grant is for the tool as it is now. */
export async function addGrantCommand(tool: string, options: AddGrantOptions, context: CommandContext): Promise<ExitCode> {
  const args = grantTests(options.args === undefined ? "{}" : await argumentText(options.args));
  const { uses: maxUses, days, for: user, agent, anyVersion } = options;
  return await context.withGate(async (gate) => {
    const signer = await proveApprover(context, "Giving a grant");
    const given = await gate.grants.add({ tool, args, user, maxUses, expiresAtMs: expiryIn(days), ...(agent === undefined ? {} : { agent }), ...(anyVersion === undefined ? {} : { anyVersion }), ...answererOf(signer, context) });
    tellGrant(given, context);
    return exitCodes.ok;
  });
}

/** `callgate grants ls` */
export async function listGrantsCommand(context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const { terminal, options } = context;
    const grants = await gate.grants.list();
    if (options.json === true) terminal.out(`${JSON.stringify(grants)}\n`);
    else if (grants.length === 0) terminal.err("No standing grants\n");
    else terminal.out(renderTable(["grant", "state", "used", "tool", "whose calls", "until", "given by", "arguments"], grants.map(rowOf), { columns: terminal.outColumns, colors: terminal.outColors }));
    return exitCodes.ok;
  }, recordOnly);
}

/** `callgate grants revoke GRANT` */
export async function revokeGrantCommand(grantId: string, context: CommandContext): Promise<ExitCode> {
  return await context.withGate(async (gate) => {
    const signer = await proveApprover(context, "Revoking a grant");
    const revoked = await gate.grants.revoke(grantId, answererOf(signer, context));
    context.terminal.out(context.options.json === true ? `${JSON.stringify(revoked)}\n` : `revoked ${grantId}; it had let ${revoked.uses} of ${revoked.maxUses} calls through\n`);
    return exitCodes.ok;
  }, recordOnly);
}

/** Tests on arguments, given as JSON. Errors: USAGE. */
export function grantTests(json: string): GivenGrant["args"] {
  try {
    return JSON.parse(json) as GivenGrant["args"];
  } catch (cause) {
    throw new CallgateError("USAGE", `What a grant says of arguments is one JSON object by JSON Pointer, such as '{"/amount": {"lte": 100}}': ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** When a grant for so many days expires. Default: one. */
export function expiryIn(days = 1): number {
  return Date.now() + days * dayMs;
}

/** What was given, in a sentence. */
export function tellGrant(grant: GrantView, { terminal, options }: Pick<CommandContext, "terminal" | "options">): void {
  const { grantId, maxUses, tool, expiresAtMs } = grant;
  terminal.out(options.json === true ? `${JSON.stringify(grant)}\n` : `granted ${grantId}: ${maxUses} ${maxUses === 1 ? "call" : "calls"} of ${tool} by ${whose(grant)}, ${argsText(grant)}, until ${timeText(expiresAtMs)}Z\n`);
}

function rowOf(grant: GrantView): readonly string[] {
  const { grantId, state, uses, maxUses, tool, expiresAtMs, by, definitions } = grant;
  return [grantId, state, `${uses}/${maxUses}`, `${tool}${definitions === undefined ? " (any version)" : ""}`, whose(grant), `${timeText(expiresAtMs)}Z`, visible(by), argsText(grant)];
}

function whose({ user, agent }: GrantView): string {
  return `${visible(user)}${agent === undefined ? "" : ` through ${visible(agent)}`}`;
}

function argsText({ args }: GrantView): string {
  if (args.kind === "same") return `the same arguments (${args.digest.slice(0, 19)}…)`;
  const tests = Object.entries(args.tests).map(([pointer, test]) => `${pointer} ${JSON.stringify(test)}`);
  return tests.length === 0 ? "without arguments" : visible(tests.join(", "));
}
