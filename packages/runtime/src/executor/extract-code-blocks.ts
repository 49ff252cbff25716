import type { ProgramLanguage } from "@callgate/contract";
import { findFences } from "../check/code-fences.ts";
import type { CodeFence } from "../check/code-fences.ts";
import { languageOf } from "../check/language-names.ts";
import type { MarkdownBlock } from "./code-block.ts";

export interface ExtractOptions {
  /** Languages whose blocks are taken. Default: python, shell, javascript, typescript. */
  readonly languages?: readonly ProgramLanguage[];
  /** The language of a block that names none. Default: such blocks are left out. */
  readonly unlabelled?: ProgramLanguage;
}

/** Blocks of a text, and what was left out of it. */
export interface Extracted {
  readonly blocks: readonly MarkdownBlock[];
  /** Blocks with code in no language that is taken: `json`, `markdown`, or none. */
  readonly left: readonly { readonly word: string | undefined; readonly line: number }[];
}

const defaultLanguages: readonly ProgramLanguage[] = ["python", "shell", "javascript", "typescript"];

/**
 * The code blocks of a Markdown text, in order, read by a CommonMark parser: fences of backticks and tildes of any length,
 * in lists and quotes, with anything behind the language. A block ends only at the start of a line. Blocks without code
 * are left out; one that is never closed reaches to the end and says so.
 *
 * Errors: none, whatever the text. Cost: linear.
 */
export function extractCodeBlocks(text: string, options: ExtractOptions = {}): Extracted {
  const { languages = defaultLanguages, unlabelled } = options;
  const blocks: MarkdownBlock[] = [];
  const left: { readonly word: string | undefined; readonly line: number }[] = [];
  for (const fence of findFences(text)) {
    if (fence.code.trim() === "") continue;
    const language = fence.word === undefined ? unlabelled : languageOf(fence.word, languages);
    if (language === undefined) left.push({ word: fence.word, line: fence.startLine });
    else blocks.push(blockOf(fence, language));
  }
  return { blocks, left };
}

function blockOf({ code, startLine, unclosed }: CodeFence, language: ProgramLanguage): MarkdownBlock {
  return { language, code: `${code}\n`, line: startLine + 1, unclosed };
}
