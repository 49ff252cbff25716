import LinkHeader from "http-link-header";
import type { JsonObject } from "@callgate/contract";
import type { HttpOperation } from "../http-operation.ts";
import { isPlainObject } from "../request/plain-object.ts";
import { requestUrl } from "../request/request-url.ts";
import type { PagingRule } from "./paging-rule.ts";

export interface PageCall {
  readonly operation: HttpOperation;
  readonly args: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly headers: Headers;
  /** Of the request, without credentials. */
  readonly url: URL;
}

/** The arguments that differ in the call of the next page; undefined after the last. A page that leads to itself is the last. */
export function nextArguments(rule: PagingRule, call: PageCall): JsonObject | undefined {
  switch (rule.kind) {
    case "link":
      return fromUrl(linkOf(call.headers), call, rule.numbers);
    case "url": {
      const next = valueAt(call.body, rule.next);
      return fromUrl(typeof next === "string" ? next : undefined, call, rule.numbers);
    }
    case "cursor": {
      const next = valueAt(call.body, rule.next);
      // Some services answer with the whole URL where others give the cursor alone.
      if (typeof next === "string" && /^(?:https?:\/\/|[/?])/.test(next)) return fromUrl(next, call, []);
      const isThere = (typeof next === "string" && next !== "") || typeof next === "number";
      return isThere && next !== call.args[rule.argument] ? { [rule.argument]: next } : undefined;
    }
    case "offset": {
      const count = countOf(call, rule);
      return count === undefined ? undefined : { [rule.argument]: numberOf(call.args[rule.argument], 0) + count };
    }
    case "page":
      return countOf(call, rule) === undefined ? undefined : { [rule.argument]: numberOf(call.args[rule.argument], rule.first) + 1 };
  }
}

function linkOf(headers: Headers): string | undefined {
  const text = headers.get("link");
  if (text === null) return undefined;
  try {
    return LinkHeader.parse(text).rel("next")[0]?.uri;
  } catch {
    return undefined;
  }
}

/** How many items a page that may be followed by another has. */
function countOf({ args, body }: PageCall, rule: Extract<PagingRule, { kind: "offset" | "page" }>): number | undefined {
  const items = valueAt(body, rule.items);
  if (!Array.isArray(items) || items.length === 0) return undefined;
  const size = rule.size === undefined ? undefined : args[rule.size];
  return typeof size === "number" && items.length < size ? undefined : items.length;
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

/**
 * What the query of the next page's URL says otherwise than this request's, as arguments. The URL itself is never asked for:
 * only what the operation has parameters for is taken of it, and only where it leads to the same path.
 */
function fromUrl(text: string | undefined, { operation, args, url }: PageCall, numbers: readonly string[]): JsonObject | undefined {
  const next = text === undefined ? null : URL.parse(text, url.href);
  if (next === null || lastPart(next) !== lastPart(url)) return undefined;
  const changed: Record<string, string | number> = {};
  for (const { name, argument, in: place } of operation.parameters) {
    const value = place === "query" ? next.searchParams.get(name) : null;
    if (value === null || value === url.searchParams.get(name)) continue;
    changed[argument] = numbers.includes(argument) && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  }
  const isNew = Object.keys(changed).length > 0 && requestUrl(operation, new URL(url.origin), { ...args, ...changed }).search !== requestUrl(operation, new URL(url.origin), args).search;
  return isNew ? changed : undefined;
}

/** Services behind a proxy, or with numbered ids in place of names, give another prefix than they are called by. */
function lastPart({ pathname }: URL): string {
  return pathname.split("/").findLast((part) => part !== "") ?? "";
}

/** What a JSON Pointer leads to; undefined where it leads nowhere. */
function valueAt(value: unknown, pointer: string): unknown {
  const keys = pointer.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  return keys.reduce<unknown>((at, key) => (isPlainObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), value);
}
