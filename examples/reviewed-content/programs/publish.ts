import { catalog, rules, site } from "tools";

// Written anew without what the rules found, then reviewed by another agent, all at once.
const drafts = (await catalog.list_products({})).map(({ sku, name, price_eur, facts }) => ({ sku, text: `${name}, ${price_eur} EUR. What it does: ${facts[0]}. ${facts.slice(1).map((fact) => `Good to know: ${fact}.`).join(" ")}` }));
const outcomes = await Promise.all(drafts.map(async ({ sku, text }) => {
  const findings = await rules.check_rules({ sku, text });
  if (findings.length > 0) return { sku, state: "breaks a rule", reason: findings.map(({ what }) => what).join("; ") };
  const { output } = await rules.review({ task: `sku: ${sku}\ntext: ${text}` }) as { output: { verdict: string; reason: string } };
  if (output.verdict !== "approve") return { sku, state: "held back", reason: output.reason };
  await site.publish({ sku, text });
  return { sku, state: "published", reason: output.reason };
}));
return outcomes;
