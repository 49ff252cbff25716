import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel } from "callgate";
import type { Gate, ScriptedModel } from "callgate";
import { checkEqual } from "../shared/job.ts";
import type { Job, OpenJob } from "../shared/job.ts";
import { catalogTools, products, publishTools, reviewTools, ruleFindings } from "./editorial.ts";
import type { Published, Verdict } from "./editorial.ts";

const read = (name: string): string => readFileSync(join(import.meta.dirname, "programs", `${name}.ts`), "utf8");
const firstDraft = read("first-draft");
const program = read("publish");

/** A reviewer by script: it holds back what hides that something cannot be replaced in the middle of praise. Real ones judge for themselves. */
function scriptedReviewer(): ScriptedModel {
  return scriptedModel(Array.from({ length: 40 }, () => ({ prompt }) => {
    const task = JSON.stringify(prompt);
    const sku = /sku: ([A-Z]+-\d+)/.exec(task)?.[1] ?? "";
    const verdict = task.includes("cannot be replaced") ? { sku, verdict: "revise", reason: "say first that the LED cannot be replaced; readers decide by it" } : { sku, verdict: "approve", reason: "true to its facts" };
    return { calls: [{ tool: "final_answer", input: verdict }] };
  }));
}

/** Product texts are written, held against the rules of the house, reviewed by a second agent, and those that pass are published. */
export const job: Job = {
  name: "reviewed-content",
  task: "Write a text for each product: its name, its price as `NN EUR`, and every fact in its own words as listed, at most 60 words. Hold each against the rules and write it anew until nothing is found. Then have each reviewed. Publish those that the reviewer approves; hold back the others and say why.",
  async open({ folder, model, openGate }): Promise<OpenJob> {
    const published: Published[] = [];
    const verdicts: Verdict[] = [];
    const out = join(folder, "site");
    // The reviewer needs the gate that its tool is part of.
    const gate: Gate = await openGate({
      tools: {
        catalog: catalogTools,
        rules: reviewTools(model ?? scriptedReviewer(), () => gate, verdicts),
        site: publishTools(out, published, verdicts),
      },
      rules: [{ allow: ["catalog.*", "rules.*", "site.publish"] }],
    });
    return {
      gate,
      program,
      script: [
        { text: "I draft all texts and hold them against the rules.", calls: [{ tool: "execute_code", input: { code: firstDraft } }] },
        { text: "\"best\" is not said. I write them anew, have them reviewed and publish what is approved.", calls: [{ tool: "execute_code", input: { code: program } }] },
        "Three texts are published. The desk lamp is held back: the reviewer wants its LED named first.",
      ],
      check: () => [
        checkEqual("each product was reviewed", products.filter((product) => !verdicts.some(({ sku }) => sku === product.sku)).map(({ sku }) => sku), []),
        checkEqual("what was approved last is published, once, and nothing else", readdirSync(out).sort(), products.filter((product) => verdicts.findLast(({ sku }) => sku === product.sku)?.verdict === "approve").map(({ sku }) => `${sku}.md`).sort()),
        checkEqual("at least one text went out", published.length > 0, true),
        checkEqual("what is published breaks no rule", products.filter(({ sku }) => existsSync(join(out, `${sku}.md`))).flatMap(({ sku }) => ruleFindings(sku, readFileSync(join(out, `${sku}.md`), "utf8"))), []),
      ],
      state: () => ({ published: Object.fromEntries(readdirSync(out).sort().map((file) => [file, readFileSync(join(out, file), "utf8")])), verdicts: verdicts.map((one) => ({ ...one })) }),
      close: () => Promise.resolve(),
    };
  },
};
