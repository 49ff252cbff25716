// Door: code blocks as runs of a gate, and how they are found in Markdown.

export { createBlockExecutor, languagesText } from "./executor/block-executor.ts";
export type { BlockExecutor, ExecuteOptions, MarkdownOptions, MarkdownResult } from "./executor/block-executor.ts";
export type { BlockResult, CodeBlock, CodeResult, MarkdownBlock, OutputPart, PrintedOutput } from "./executor/code-block.ts";
export { extractCodeBlocks } from "./executor/extract-code-blocks.ts";
export type { Extracted, ExtractOptions } from "./executor/extract-code-blocks.ts";
export { languageOf, namesOf } from "./check/language-names.ts";
