/**
 * How the pages of an operation follow each other. JSON Pointers lead into the body of an answer; `numbers` are those
 * arguments that are numbers, because a URL holds only texts.
 */
export type PagingRule =
  /** The answer's `Link` header names the next page (RFC 8288, rel="next"). */
  | { readonly kind: "link"; readonly numbers: readonly string[] }
  /** The body holds the URL of the next page. */
  | { readonly kind: "url"; readonly next: string; readonly numbers: readonly string[] }
  /** The body holds what the next call is to give as an argument. */
  | { readonly kind: "cursor"; readonly argument: string; readonly next: string }
  /** The argument counts items. `size`: the argument that says how many a page has at most. */
  | { readonly kind: "offset"; readonly argument: string; readonly items: string; readonly size?: string }
  /** The argument counts pages. */
  | { readonly kind: "page"; readonly argument: string; readonly items: string; readonly size?: string; readonly first: number };
