import { setImmediate } from "node:timers/promises";
import type { Parser, Tree } from "@lezer/common";

/** The longest stretch in which the event loop waits. */
const sliceMs = 8;

/**
 * Parses a text of any size without holding up the event loop.
 *
 * @param budgetMs of parsing; past it there is no tree
 */
export async function parseInSlices(parser: Parser, text: string, budgetMs: number): Promise<Tree | undefined> {
  const parse = parser.startParse(text);
  let spentMs = 0;
  for (;;) {
    const startedMs = performance.now();
    for (let step = 0; step % 64 !== 0 || performance.now() - startedMs < sliceMs; step++) {
      const tree = parse.advance();
      if (tree !== null) return tree;
    }
    spentMs += performance.now() - startedMs;
    if (spentMs > budgetMs) return undefined;
    await setImmediate();
  }
}
