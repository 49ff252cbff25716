import { readFileSync } from "node:fs";

/**
 * The texts that are shipped, each a file of its version: `prompts/<name>.v<version>.md`. A text that changes gets a new
 * version, so that what a recorded conversation was told can be read.
 */
const versions = { base: 1, tools: 1, code: 1, select: 1, selected: 1, blocks: 1, output: 1, closing: 1, summarize: 1, extract: 1 } as const;

export type PromptName = keyof typeof versions;

export const promptNames = Object.keys(versions) as readonly PromptName[];

/** The shipped text, or the one given in its place. */
export function promptText(name: PromptName, given: Partial<Readonly<Record<PromptName, string>>> = {}): string {
  return given[name] ?? readFileSync(new URL(`../prompts/${name}.v${versions[name]}.md`, import.meta.url), "utf8").trim();
}
