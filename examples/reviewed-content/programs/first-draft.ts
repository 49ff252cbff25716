import { catalog, rules } from "tools";

const drafts = (await catalog.list_products({})).map(({ sku, name, price_eur, facts }) => ({ sku, text: `${name} is the best choice for your home: ${facts.join(", ")}. Only ${price_eur} EUR.` }));
return await Promise.all(drafts.map(async ({ sku, text }) => ({ sku, text, findings: await rules.check_rules({ sku, text }) })));
