import { CallgateError } from "@callgate/contract";
import type { Plan } from "@callgate/contract";
import { z } from "zod";
import { planDigest } from "./plan-digest.ts";

const digest = z.templateLiteral(["sha256:", z.string().regex(/^[0-9a-f]{64}$/)]);
const json = z.json();
const origin = z.strictObject({
  kind: z.enum(["result", "handle", "program", "placeholder"]),
  seq: z.int().optional(),
  tool: z.string().optional(),
  path: z.string().optional(),
  how: z.enum(["same", "part", "holds", "decoded"]),
});
const item = z.strictObject({
  id: z.string(),
  get inner() {
    return z.array(item).optional();
  },
  tool: z.string(),
  effect: z.enum(["write", "destructive"]),
  args: json,
  argsDigest: digest,
  occurrence: z.int().min(0),
  decision: z.strictObject({ kind: z.enum(["allow", "ask", "deny"]), ruleId: z.string(), reason: z.string().optional() }),
  origins: z.array(z.strictObject({ path: z.string(), origins: z.array(origin) })),
  cost: z.strictObject({ tokens: z.number(), microUsd: z.number() }).optional(),
  fails: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  isConditional: z.literal(true).optional(),
  onlyWith: z.array(z.string()).optional(),
  mayRepeat: z.literal(true).optional(),
  varies: z.strictObject({ paths: z.array(z.string()), restDigest: digest }).optional(),
  derivedFrom: z.array(z.string()),
  change: z.discriminatedUnion("kind", [z.strictObject({ kind: z.literal("dropped") }), z.strictObject({ kind: z.literal("edited"), args: json, digest, by: z.string(), paths: z.array(z.string()) })]).optional(),
});
const plan = z.strictObject({
  form: z.literal("callgate-plan-1"),
  planId: z.string(),
  madeAtMs: z.number(),
  rehearsal: z.strictObject({ runId: z.string(), against: z.string(), others: z.array(z.string()) }),
  program: z.strictObject({ text: z.string(), language: z.string(), digest }),
  principal: z.strictObject({ tenant: z.string(), user: z.string(), agent: z.string().optional(), task: z.string().optional(), roles: z.array(z.string()), claims: z.record(z.string(), json) }),
  lane: z.enum(["query", "execute"]),
  taskId: z.string().optional(),
  seed: z.string().regex(/^[0-9a-f]{32}$/),
  policyVersion: z.string(),
  tools: z.record(z.string(), digest),
  items: z.array(item),
  notes: z.array(z.string()),
  digest,
  approval: z
    .strictObject({
      kind: z.literal("approval"),
      approvalId: z.string(),
      approved: z.literal(true),
      by: z.string(),
      reason: z.string().optional(),
      signature: z.strictObject({ keyId: z.string(), value: z.string() }).optional(),
      atMs: z.number(),
      expiresAtMs: z.number(),
    })
    .optional(),
});

/** Reads a plan from what a file, or a caller, holds. Errors: PLAN_INVALID. */
export function parsePlan(value: unknown): Plan {
  const read = plan.safeParse(value);
  if (!read.success) {
    const [first] = read.error.issues;
    throw new CallgateError("PLAN_INVALID", `This is no plan: ${first === undefined ? "it has another form" : `/${first.path.map(String).join("/")}: ${first.message}`}. callgate run --rehearse --plan FILE makes one`);
  }
  // Optional fields of the shape are absent, or what they say: JSON knows no undefined.
  const found = read.data as Plan;
  if (planDigest(found) !== found.digest) throw new CallgateError("PLAN_INVALID", `Plan ${found.planId} was changed by hand, or is damaged: its digest is not that of what it says. Change it with callgate plan edit and drop, or rehearse again`, { details: { planId: found.planId } });
  return found;
}
