import { createRequire } from "node:module";

interface UrlLibrary {
  readonly URL: { parse(input: string, base?: string): WritableUrl | null };
}
type WritableUrl = Record<(typeof parts)[number], string>;

const parts = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"] as const;
const settable: ReadonlySet<string> = new Set(parts.filter((part) => part !== "origin"));
/** A URL is short; the library is linear, but its work here is not interrupted. */
const maxChars = 1024 * 1024;

/**
 * Answers the guest's URL class: JSON in, JSON out. whatwg-url, pure JavaScript: hostile text meets no native parser
 * (DESIGN D6), and the answer does not change with the version of Node. It is loaded when first asked for.
 */
export function parseUrl(requestJson: string): string {
  if (requestJson.length > maxChars) return "null";
  const { input, base, key, value } = JSON.parse(requestJson) as { input: string; base?: string; key?: string; value?: string };
  const { URL } = createRequire(import.meta.url)("whatwg-url") as UrlLibrary;
  const url = URL.parse(input, base);
  if (url === null) return "null";
  if (key !== undefined && value !== undefined && settable.has(key)) {
    try {
      url[key as "href"] = value;
    } catch {
      return "null";
    }
  }
  return JSON.stringify(Object.fromEntries(parts.map((part) => [part, url[part]])));
}
