import type { TaskTemplate } from "@callgate/contract";
import { words } from "./search/words.ts";

/** As many words of a query, at least, are in what a template says of itself; of a query of one word, that one. */
const wordsInCommon = 2;

/** Those that fit a task, best first. Few are better than many: each comes with a program. */
export function findTemplates(templates: readonly TaskTemplate[], query: string): readonly TaskTemplate[] {
  const asked = new Set(words(query.slice(0, 1_000)));
  const needed = Math.min(wordsInCommon, asked.size);
  if (needed === 0) return [];
  return templates
    .map((template) => ({ template, common: common(asked, template) }))
    .filter((one) => one.common >= needed)
    .sort((a, b) => b.common - a.common || (a.template.name < b.template.name ? -1 : 1))
    .map(({ template }) => template);
}

function common(asked: ReadonlySet<string>, { name, when, tools, inputs }: TaskTemplate): number {
  const own = new Set(words(`${name} ${when} ${tools.join(" ")} ${Object.keys(inputs).join(" ")}`));
  return [...asked].filter((word) => own.has(word)).length;
}
