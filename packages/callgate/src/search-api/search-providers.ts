import type { AuthSpec, HttpRequest } from "@callgate/http-client";

/** Services that search the web. */
export type SearchProvider = "tavily" | "brave" | "serper";

export interface SearchQuery {
  readonly query: string;
  /** Results wanted, 1 to 20. */
  readonly limit: number;
}

/** A result as the service gives it; nothing of it can be trusted. */
export interface GivenResult {
  readonly title: unknown;
  readonly url: unknown;
  readonly snippet: unknown;
  readonly published: unknown;
}

/** How one service is asked, and what its answers mean. */
export interface ProviderForm {
  readonly endpoint: string;
  auth(key: string): AuthSpec;
  request(endpoint: URL, query: SearchQuery): Pick<HttpRequest, "method" | "url" | "headers" | "body">;
  /** Undefined where the answer is none of this service. */
  results(answer: Readonly<Record<string, unknown>>): readonly GivenResult[] | undefined;
}

const json = [["content-type", "application/json"], ["accept", "application/json"]] as const;

/** By the services' documentation of 2026: Tavily `POST /search`, Brave `GET /res/v1/web/search`, Serper `POST /search`. */
export const searchProviders: Readonly<Record<SearchProvider, ProviderForm>> = {
  tavily: {
    endpoint: "https://api.tavily.com/search",
    auth: (token) => ({ kind: "bearer", token }),
    request: (url, { query, limit }) => ({ method: "POST", url, headers: json, body: JSON.stringify({ query, max_results: limit }) }),
    results: ({ results }) => listOf(results)?.map(({ title, url, content, published_date }) => ({ title, url, snippet: content, published: published_date })),
  },
  brave: {
    endpoint: "https://api.search.brave.com/res/v1/web/search",
    auth: (value) => ({ kind: "apiKey", in: "header", name: "x-subscription-token", value }),
    request(endpoint, { query, limit }) {
      const url = new URL(endpoint);
      url.searchParams.set("q", query);
      url.searchParams.set("count", String(limit));
      url.searchParams.set("text_decorations", "false");
      return { method: "GET", url, headers: [["accept", "application/json"]] };
    },
    // Without anything found there is no `web`.
    results: ({ type, web }) => (type === "search" && web === undefined ? [] : listOf(recordOf(web)?.["results"])?.map(({ title, url, description, page_age, age }) => ({ title, url, snippet: description, published: page_age ?? age }))),
  },
  serper: {
    endpoint: "https://google.serper.dev/search",
    auth: (value) => ({ kind: "apiKey", in: "header", name: "x-api-key", value }),
    request: (url, { query, limit }) => ({ method: "POST", url, headers: json, body: JSON.stringify({ q: query, num: limit }) }),
    results: ({ organic, searchParameters }) => (organic === undefined && recordOf(searchParameters) !== undefined ? [] : listOf(organic)?.map(({ title, link, snippet, date }) => ({ title, url: link, snippet, published: date }))),
  },
};

export function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  return Array.isArray(value) ? value.map(recordOf).filter((one) => one !== undefined) : undefined;
}
