import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentTool, createAgent, defineTool, ToolError } from "callgate";
import type { AgentModel, Gate, Tool } from "callgate";
import { z } from "zod";

export const products = [
  { sku: "KT-20", name: "Kettle 20", price_eur: 39, facts: ["2 litres", "switches off by itself", "2 years of warranty"] },
  { sku: "LM-05", name: "Desk lamp 05", price_eur: 54, facts: ["480 lumen", "dims in 5 steps", "LED cannot be replaced"] },
  { sku: "BK-11", name: "Backpack 11", price_eur: 89, facts: ["22 litres", "holds a 16 inch laptop", "made of recycled nylon"] },
  { sku: "SC-02", name: "Kitchen scale 02", price_eur: 24, facts: ["up to 5 kg", "exact to 1 g", "two AAA batteries, not included"] },
] as const;

/** Superlatives and promises that the house does not make. */
const banned = ["best", "guaranteed", "unbeatable", "100%", "forever"];
const maxWords = 60;

export interface Finding {
  readonly rule: "banned-word" | "length" | "price" | "fact";
  readonly what: string;
}

/** The house's rules, which a machine can judge. */
export function ruleFindings(sku: string, text: string): readonly Finding[] {
  const product = products.find((one) => one.sku === sku);
  if (product === undefined) throw new ToolError({ code: "UNKNOWN_PRODUCT", message: `There is no product ${sku}`, notApplied: true });
  const words = text.trim().split(/\s+/);
  const found: Finding[] = banned.filter((word) => new RegExp(`(?<!\\w)${word}(?!\\w)`, "i").test(text)).map((word) => ({ rule: "banned-word", what: `"${word}" is not said` }));
  if (words.length > maxWords) found.push({ rule: "length", what: `${words.length} words; at most ${maxWords}` });
  if (!text.includes(`${product.price_eur} EUR`)) found.push({ rule: "price", what: `the price is ${product.price_eur} EUR` });
  for (const fact of product.facts) if (!text.includes(fact)) found.push({ rule: "fact", what: `says nothing of: ${fact}` });
  return found;
}

export const catalogTools: readonly Tool[] = [
  defineTool({
    name: "list_products",
    description: "All products with their price and what has to be said of them.",
    effect: "read",
    input: z.strictObject({}),
    output: z.array(z.object({ sku: z.string(), name: z.string(), price_eur: z.number(), facts: z.array(z.string()) })),
    handler: () => products.map(({ facts, ...product }) => ({ ...product, facts: [...facts] })),
  }),
];

const verdict = z.strictObject({ sku: z.string(), verdict: z.enum(["approve", "revise"]), reason: z.string() });
export type Verdict = z.infer<typeof verdict>;

/**
 * The rule check, and the review by another agent, which reads and never writes.
 *
 * @param verdicts takes what the reviewer said, in order
 */
export function reviewTools(model: AgentModel, gate: () => Gate, verdicts: Verdict[]): readonly Tool[] {
  const reviewer = (): ReturnType<typeof createAgent> => createAgent({
    name: "reviewer",
    model,
    gate: gate(),
    tools: ["catalog.*"],
    mode: "tools",
    instructions: "You review a product text. It must be true to its facts and in plain words. Answer with the JSON alone.",
    output: verdict,
  });
  const review = agentTool(reviewer, { name: "review", description: "Another agent reads a text and answers { output: { sku, verdict: \"approve\" | \"revise\", reason } }. Give it sku and text.", effect: "read" });
  return [
    defineTool({
      name: "check_rules",
      description: "Holds a product text against the rules of the house: words that are not said, length, price, facts.",
      effect: "read",
      input: z.strictObject({ sku: z.string(), text: z.string() }),
      output: z.array(z.object({ rule: z.string(), what: z.string() })),
      errors: [{ code: "UNKNOWN_PRODUCT", description: "No product has that sku" }],
      handler: ({ sku, text }) => ruleFindings(sku, text).map((finding) => ({ ...finding })),
    }),
    {
      ...review,
      async handler(args, context) {
        const answer = await review.handler(args, context);
        verdicts.push(verdict.parse((answer as { readonly output?: unknown }).output));
        return answer;
      },
    },
  ];
}

export interface Published {
  readonly sku: string;
  readonly text: string;
}

/** Where texts go out. What breaks a rule, or was not approved last, does not go out, whoever says so. */
export function publishTools(folder: string, published: Published[], verdicts: readonly Verdict[]): readonly Tool[] {
  mkdirSync(folder);
  return [
    defineTool({
      name: "publish",
      description: "Publishes the text of a product. One that breaks a rule, that the reviewer did not approve, or that would be a second one, is refused.",
      effect: "write",
      businessKey: ({ sku }) => sku,
      input: z.strictObject({ sku: z.string(), text: z.string() }),
      output: z.object({ file: z.string() }),
      precheck({ sku, text }) {
        const [first] = ruleFindings(sku, text);
        if (first !== undefined) throw new ToolError({ code: "RULE_BROKEN", message: first.what, notApplied: true });
        if (verdicts.findLast((one) => one.sku === sku)?.verdict !== "approve") throw new ToolError({ code: "NOT_APPROVED", message: `The reviewer has not approved ${sku}`, notApplied: true });
        if (published.some((one) => one.sku === sku)) throw new ToolError({ code: "PUBLISHED_BEFORE", message: `${sku} has a text`, notApplied: true });
      },
      handler({ sku, text }) {
        writeFileSync(join(folder, `${sku}.md`), `${text}\n`);
        published.push({ sku, text });
        return { file: `${sku}.md` };
      },
    }),
  ];
}
