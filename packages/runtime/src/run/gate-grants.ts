import { CallgateError } from "@callgate/contract";
import type { AnswerSigner, ApprovalQuestion, ApprovalRules, Digest, GateGrants, GivenGrant, Grant, GrantScope, GrantView, GrantWithAnswer, Journal, KeptGrant, Policy, Principal } from "@callgate/contract";
import { createAnswerJudge } from "../approval/answer-judge.ts";
import type { AnswerJudge } from "../approval/answer-judge.ts";
import { assertGrant, readGrantTests } from "../approval/read-grant.ts";
import { signGrant } from "../approval/sign-grant.ts";
import { inputPointers } from "../broker/pointers.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { unescapePointer } from "../lib/json-pointer.ts";
import { globMatches, qualifiedGlob } from "../lib/name-glob.ts";
import { askingRules, ruleDigest } from "../policy/asking-rules.ts";
import { pointerTree } from "../secrets/pointer-tree.ts";

export interface GateGrantsOptions {
  readonly journal: Pick<Journal, "grants">;
  readonly now: () => number;
  readonly newId: () => string;
  readonly principal: Principal;
  readonly rules: ApprovalRules;
  readonly policy: Pick<Policy, "inspection">;
  /** All tools there are, whoever may see them. */
  readonly catalog: () => Catalog;
}

/** Who gives, and what they sign with. */
interface Giver {
  readonly by?: string | undefined;
  readonly signer?: AnswerSigner | undefined;
}

export interface GateGrantBook extends GateGrants {
  /** Made with the answer to a question, for what that is about. Nothing is kept yet. Errors: USAGE, SIGNAL_REFUSED. */
  prepare(question: ApprovalQuestion, given: GrantWithAnswer, giver: Giver): Grant;
  /** Keeps what was prepared. */
  keep(grant: Grant): Promise<GrantView>;
}

/** Standing grants: what people allow ahead of the question. A grant is on disk before anyone is told of it. */
export function createGateGrants(options: GateGrantsOptions): GateGrantBook {
  const { journal, now, newId, principal, rules, policy, catalog } = options;
  const judge = createAnswerJudge(rules);
  const view = (grant: KeptGrant): GrantView => ({ ...grant, state: stateOf(grant, { judge, policy, nowMs: now() }) });

  function make(tenant: string, scope: GrantScope, { giver, approvalId }: { readonly giver: Giver; readonly approvalId?: string }): Grant {
    const by = nameOf(giver, judge, "The grant was not given");
    // Of `*` it is refused when it is used, by whoever gave it.
    const why = judge.selfRefusal({ principal: { ...principal, tenant, user: scope.user, ...agentOf(scope) } }, by);
    if (why !== undefined) throw new CallgateError("SIGNAL_REFUSED", `The grant was not given: it would cover what ${by} asks for, and nobody answers their own question. Another person has to give it`);
    const unsigned = { ...scope, grantId: newId(), tenant, givenAtMs: now(), ...(approvalId === undefined ? {} : { approvalId }) };
    return giver.signer === undefined ? { ...unsigned, by } : signGrant(unsigned, giver.signer);
  }

  async function keep(grant: Grant): Promise<GrantView> {
    await journal.grants.give(grant);
    return view({ ...grant, uses: 0 });
  }

  return {
    keep,
    prepare(question, { maxUses, expiresAtMs, args, anyVersion }, giver) {
      const { principal: asker, tool, definitionDigest, argsDigest, approvalId, ruleId } = question;
      if (question.isReview === true) throw new CallgateError("USAGE", "The grant was not given: a program under review is approved by itself; every other one is looked at as well");
      if (question.isResult === true) throw new CallgateError("USAGE", "The grant was not given: the question is about a result, and each of those is looked at");
      const scope = { tool, user: asker.user, ...(asker.agent === undefined ? {} : { agent: asker.agent }), maxUses, expiresAtMs };
      assertGrant(scope, now());
      const covered = args === undefined ? { kind: "same" as const, digest: argsDigest } : readGrantTests(args);
      if (args !== undefined) assertNothingSensitive(toolsMeant(catalog(), tool), args);
      return make(asker.tenant, { ...scope, args: covered, ...(anyVersion === true ? {} : { definitions: { [tool]: definitionDigest }, rules: { [ruleId]: ruleDigest(policy, ruleId) } }) }, { giver, approvalId });
    },
    async add({ args, anyVersion, by, signer, ...scope }, { principal: { tenant } = principal } = {}) {
      assertGrant(scope, now());
      const tests = readGrantTests(args);
      const tools = toolsMeant(catalog(), scope.tool);
      if (tools.length === 0) throw new CallgateError("USAGE", `The grant was not given: "${scope.tool}" covers no tool that is here; callgate search lists them`);
      assertNothingSensitive(tools, args);
      return await keep(make(tenant, { ...scope, args: tests, ...(anyVersion === true ? {} : { definitions: digestsOf(tools), rules: askingRules(policy) }) }, { giver: { by, signer } }));
    },
    list: async ({ principal: { tenant } = principal } = {}) => (await journal.grants.list(tenant)).map(view),
    async revoke(grantId, giver, { principal: { tenant } = principal } = {}) {
      const by = nameOf(giver, judge, "The grant was not revoked");
      const revoked = await journal.grants.revoke({ tenant, grantId, by });
      if (revoked === undefined) throw new CallgateError("USAGE", `There is no grant ${grantId} that could be revoked; callgate grants ls lists them`, { details: { grantId } });
      return view(revoked);
    },
  };
}

/** What people are handed of it. */
export function shownGrants(grants: GateGrants): GateGrants {
  return { add: (grant, asker) => grants.add(grant, asker), list: (asker) => grants.list(asker), revoke: (grantId, giver, asker) => grants.revoke(grantId, giver, asker) };
}

function nameOf({ by, signer }: Giver, judge: AnswerJudge, what: string): string {
  const name = signer?.by ?? by;
  if (name === undefined) throw new CallgateError("USAGE", `${what}: say who does it, by or a signer`);
  if (judge.needsSignature && signer === undefined) throw new CallgateError("SIGNAL_REFUSED", `${what}: this gate takes signed ones only; callgate grants asks for the passphrase of an approver`);
  return name;
}

/** Whoever acts: with `*` it is not known yet. */
function agentOf({ agent }: GrantScope): Pick<Principal, "agent"> {
  return agent === undefined ? {} : { agent };
}

interface Standing {
  readonly judge: AnswerJudge;
  readonly policy: Pick<Policy, "inspection">;
  readonly nowMs: number;
}

function stateOf(grant: KeptGrant, { judge, policy, nowMs }: Standing): GrantView["state"] {
  const { uses, revoked, ...given } = grant;
  if (judge.grantRefusal(given) !== undefined) return "not_valid";
  if (revoked !== undefined) return "revoked";
  if (grant.expiresAtMs <= nowMs) return "expired";
  if (uses >= grant.maxUses) return "spent";
  const rules = Object.entries(grant.rules ?? {});
  return rules.length > 0 && rules.every(([ruleId, digest]) => ruleDigest(policy, ruleId) !== digest) ? "outdated" : "open";
}

function toolsMeant(catalog: Catalog, pattern: string): readonly CatalogTool[] {
  const glob = qualifiedGlob(pattern);
  return typeof glob === "string" ? [] : catalog.tools.filter(({ name }) => globMatches(glob, name));
}

function digestsOf(tools: readonly CatalogTool[]): Readonly<Record<string, Digest>> {
  return Object.fromEntries(tools.map(({ name, definitionDigest }) => [name, definitionDigest]));
}

/** A grant is kept in clear, so it may not hold what no record may. */
function assertNothingSensitive(tools: readonly CatalogTool[], tests: GivenGrant["args"]): void {
  for (const tool of tools) {
    const at = Object.entries(tests).find(([pointer, test]) => !isAny(test) && isSensitive(inputPointers(tool), pointer));
    if (at !== undefined) throw new CallgateError("USAGE", `The grant was not given: ${at[0]} of ${tool.name} is sensitive, and a grant is kept in clear. Cover it with { "any": true }, or grant the same arguments at the answer to a question`);
  }
}

function isAny(test: GivenGrant["args"][string]): boolean {
  return typeof test === "object" && test !== null && test.any === true;
}

function isSensitive(sensitive: readonly string[], pointer: string): boolean {
  let tree = pointerTree(sensitive);
  for (const token of pointer.slice(1).split("/")) {
    if (tree === undefined || tree.isSensitive) break;
    tree = tree.below(unescapePointer(token));
  }
  return tree?.isSensitive === true;
}
