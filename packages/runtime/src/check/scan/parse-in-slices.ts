import { setImmediate } from "node:timers/promises";
import type { Parser, Tree } from "@lezer/common";
import { threadMs } from "../../lib/thread-time.ts";

/** The longest stretch in which the event loop waits. */
const sliceMs = 8;

/**
 * Parses a text of any size without holding up the event loop.
 *
 * @param budgetMs CPU time of parsing; past it there is no tree
 */
export async function parseInSlices(parser: Parser, text: string, budgetMs: number): Promise<Tree | undefined> {
  const parse = parser.startParse(text);
  let spentMs = 0;
  for (;;) {
    const startedMs = performance.now();
    const startedCpuMs = threadMs();
    for (let step = 0; step % 64 !== 0 || performance.now() - startedMs < sliceMs; step++) {
      const tree = parse.advance();
      if (tree !== null) return tree;
    }
    spentMs += threadMs() - startedCpuMs;
    if (spentMs > budgetMs) return undefined;
    await setImmediate();
  }
}
