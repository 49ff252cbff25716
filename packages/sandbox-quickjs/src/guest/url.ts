import { emitted } from "../guest-protocol.ts";
import type { Emit } from "./calls.ts";
import { SafeTypeError, parse, stringify } from "./intrinsics.ts";
import { createSearchParams } from "./url-search-params.ts";
import type { SearchParamsClass } from "./url-search-params.ts";

/** What the host's parser says of one URL. */
interface UrlParts {
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

/**
 * `URL` and `URLSearchParams`. Parsing is done by a kept pure-JavaScript library on the worker's side of the wall, which
 * sees text and answers with text: the engine here stays small, and its answer depends on nothing but its arguments.
 */
export function createUrl(emit: Emit): { readonly URL: unknown; readonly URLSearchParams: SearchParamsClass["URLSearchParams"] } {
  const ask = (request: object): UrlParts | undefined => {
    const answer = parse(emit(emitted.url, stringify(request)) as string) as UrlParts | null;
    return answer ?? undefined;
  };
  const { URLSearchParams, bindTo } = createSearchParams();

  class URL {
    #parts: UrlParts;
    readonly #params: InstanceType<typeof URLSearchParams>;

    constructor(input: unknown, base?: unknown) {
      const parts = ask(base === undefined ? { input: `${input as string}` } : { input: `${input as string}`, base: `${base as string}` });
      if (parts === undefined) throw new SafeTypeError(`Invalid URL: ${stringify(`${input as string}`)}${base === undefined ? "" : ` with base ${stringify(`${base as string}`)}`}`);
      this.#parts = parts;
      this.#params = bindTo(parts.search, (search) => {
        this.#parts = ask({ input: this.#parts.href, key: "search", value: search }) ?? this.#parts;
      });
    }
    static canParse(input: unknown, base?: unknown): boolean {
      return ask(base === undefined ? { input: `${input as string}` } : { input: `${input as string}`, base: `${base as string}` }) !== undefined;
    }
    static parse(input: unknown, base?: unknown): URL | null {
      return URL.canParse(input, base) ? new URL(input, base) : null;
    }
    #set(key: keyof UrlParts, value: unknown): void {
      const parts = ask({ input: this.#parts.href, key, value: `${value as string}` });
      if (parts === undefined) throw new SafeTypeError(`Invalid URL: ${stringify(`${value as string}`)}`);
      this.#parts = parts;
      if (key === "search" || key === "href") this.#params.reset(parts.search);
    }
    get href() { return this.#parts.href; }
    set href(value) { this.#set("href", value); }
    get origin() { return this.#parts.origin; }
    get protocol() { return this.#parts.protocol; }
    set protocol(value) { this.#set("protocol", value); }
    get username() { return this.#parts.username; }
    set username(value) { this.#set("username", value); }
    get password() { return this.#parts.password; }
    set password(value) { this.#set("password", value); }
    get host() { return this.#parts.host; }
    set host(value) { this.#set("host", value); }
    get hostname() { return this.#parts.hostname; }
    set hostname(value) { this.#set("hostname", value); }
    get port() { return this.#parts.port; }
    set port(value) { this.#set("port", value); }
    get pathname() { return this.#parts.pathname; }
    set pathname(value) { this.#set("pathname", value); }
    get search() { return this.#parts.search; }
    set search(value) { this.#set("search", value); }
    get hash() { return this.#parts.hash; }
    set hash(value) { this.#set("hash", value); }
    get searchParams() { return this.#params; }
    toString(): string { return this.#parts.href; }
    toJSON(): string { return this.#parts.href; }
  }
  return { URL, URLSearchParams };
}
