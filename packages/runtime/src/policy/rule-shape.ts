import { z } from "zod";

// The words of the rules file. docs/guide/policy.md explains them.

const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item)]);
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const text = z.string().min(1);

/** What one argument must be. All given words must hold. */
const comparison = z
  .strictObject({
    equals: scalar,
    in: z.array(scalar),
    gt: z.number(),
    gte: z.number(),
    lt: z.number(),
    lte: z.number(),
    glob: text.max(256),
    exists: z.boolean(),
  })
  .partial()
  .refine((value) => Object.keys(value).length > 0, "names no comparison: use equals, in, gt, gte, lt, lte, glob or exists");

/** A side of a rule. All given keys must hold; a list holds when one of its items does. */
const matchShape = z
  .strictObject({
    tool: oneOrMore(text),
    namespace: oneOrMore(text),
    effect: oneOrMore(z.enum(["read", "write", "destructive"])),
    tag: oneOrMore(text),
    permission: oneOrMore(text),
    label: oneOrMore(text),
    user: oneOrMore(text),
    agent: oneOrMore(text),
    role: oneOrMore(text),
    tenant: oneOrMore(text),
    lane: z.enum(["query", "execute"]),
    args: z.record(z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'must be a JSON Pointer into the arguments, e.g. "/amount"'), z.union([scalar, comparison])),
  })
  .partial();

/** The tools a rule is about: a glob, several, or a description. */
const about = z.union([text, z.array(text), matchShape]);

const common = { id: text.optional(), when: matchShape.optional(), unless: matchShape.optional(), reason: text.optional(), help: text.optional() };

/** One rule: exactly one of `allow`, `ask`, `deny`. */
export const ruleShape = z.strictObject({ allow: about.optional(), ask: about.optional(), deny: about.optional(), ...common });

export type RuleInput = z.input<typeof ruleShape>;
export type RuleMatch = z.infer<typeof matchShape>;
export type RuleAbout = z.infer<typeof about>;
export type ArgumentTest = NonNullable<RuleMatch["args"]>[string];

export const ruleKeys = Object.keys(ruleShape.shape);
export const matchKeys = Object.keys(matchShape.shape);
export const comparisonKeys = ["equals", "in", "gt", "gte", "lt", "lte", "glob", "exists"];
