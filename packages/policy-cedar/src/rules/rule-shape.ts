import { z } from "zod";

// The words of the rules file. docs/guide/policy.md explains them.

const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item)]);
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const text = z.string().min(1).refine((value) => value.isWellFormed(), "is not Unicode");

/** What one argument or claim must be. All given words must hold. */
const comparison = z
  .strictObject({
    equals: scalar,
    in: z.array(scalar),
    gt: z.number(),
    gte: z.number(),
    lt: z.number(),
    lte: z.number(),
    glob: text.max(256),
    contains: text,
    exists: z.boolean(),
  })
  .partial()
  .refine((value) => Object.keys(value).length > 0, "names no comparison: use equals, in, gt, gte, lt, lte, glob, contains or exists");

const pointers = (into: string, example: string) => z.record(z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/, `must be a JSON Pointer into ${into}, e.g. "${example}"`), z.union([scalar, comparison]));

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
    claim: pointers("the claims", "/department"),
    lane: z.enum(["query", "execute"]),
    taint: oneOrMore(text),
    args: pointers("the arguments", "/amount"),
    result: pointers("the result", "/total"),
    run: oneOrMore(text),
    launcher: oneOrMore(text),
    network: z.union([z.boolean(), oneOrMore(text)]),
    mount: z.union([z.boolean(), oneOrMore(text)]),
    package: z.union([z.boolean(), oneOrMore(text)]),
    reach: oneOrMore(z.enum(["read", "write", "destructive"])),
    newAgent: z.boolean(),
  })
  .partial();

/** The tools a rule is about: a glob, several, or a description. */
const about = z.union([text, z.array(text), matchShape]);

const common = { id: text.optional(), on: z.literal("result").optional(), when: matchShape.optional(), unless: matchShape.optional(), reason: text.optional(), help: text.optional(), from: text.optional() };

/** One rule: exactly one of `allow`, `ask`, `deny`. */
export const ruleShape = z.strictObject({ allow: about.optional(), ask: about.optional(), deny: about.optional(), ...common });

/** One rule of the short form: exactly one of `allow`, `ask` and `deny`, and under which conditions. */
export type PolicyRule = z.input<typeof ruleShape>;
export type RuleMatch = z.infer<typeof matchShape>;
export type RuleAbout = z.infer<typeof about>;
export type ValueTest = NonNullable<RuleMatch["args"]>[string];

export const ruleKeys = Object.keys(ruleShape.shape);
export const matchKeys = Object.keys(matchShape.shape);
export const comparisonKeys = ["equals", "in", "gt", "gte", "lt", "lte", "glob", "contains", "exists"];

/** Keys that are known only once a tool has answered. */
export const resultKeys: readonly (keyof RuleMatch)[] = ["result"];

/** Keys that are about tools and their calls, and those about the run of a program. */
export const callKeys: readonly (keyof RuleMatch)[] = ["tool", "namespace", "effect", "tag", "permission", "label", "taint", "args", "result"];
export const runKeys: readonly (keyof RuleMatch)[] = ["run", "launcher", "network", "mount", "package", "reach", "newAgent"];
