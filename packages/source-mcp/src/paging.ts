import { writeLosslessJson } from "@callgate/contract";
import { receivedText } from "./received-text.ts";
import type { ResultBody } from "./result-body.ts";

export interface PagingBounds {
  readonly maxPages: number;
  readonly maxItems: number;
}

/** Enough for the largest real servers many times over; a server beyond is broken or hostile (security mcp-004). */
const pagingBounds: PagingBounds = { maxPages: 500, maxItems: 20_000 };

/**
 * Follows `nextCursor` to the end.
 *
 * @param fetchPage asks for one page; what it throws passes through
 * @param key       the property that holds the items
 * @returns all items, and a sentence for each reason why some may be missing
 */
export async function collectPages(
  fetchPage: (cursor: string | undefined) => Promise<ResultBody>,
  key: string,
  bounds: PagingBounds = pagingBounds,
): Promise<{ readonly items: readonly unknown[]; readonly problems: readonly string[] }> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const body = await fetchPage(cursor);
    const part = body[key];
    if (!Array.isArray(part)) return { items, problems: [`Page ${page} of ${key} has no list; ${items.length} items of earlier pages are used. Received: ${receivedText(writeLosslessJson(body))}`] };
    for (const item of part) items.push(item);
    if (items.length > bounds.maxItems) {
      return { items: items.slice(0, bounds.maxItems), problems: [`The server lists more than ${bounds.maxItems} ${key}; the rest was left out`] };
    }
    const next = body["nextCursor"];
    if (typeof next !== "string" || next === "") return { items, problems: [] };
    if (seen.has(next)) return { items, problems: [`The server repeats the page cursor of ${key}; stopped after ${page} pages`] };
    if (page === bounds.maxPages) return { items, problems: [`The server has more than ${bounds.maxPages} pages of ${key}; the rest was left out`] };
    seen.add(next);
    cursor = next;
  }
}
