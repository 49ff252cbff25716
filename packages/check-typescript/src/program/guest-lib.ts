/** What every guest has beside its language: Callgate's own names. */
export const ownLibText = `
/** What a call that did not end ok throws. */
interface ToolError extends Error {
  readonly code: string;
  /** namespace.tool */
  readonly tool: string;
  readonly retryable: boolean;
  readonly details: any;
}
declare var ToolError: { prototype: ToolError; new (fields: { code: string; message: string; tool: string; retryable?: boolean; details?: unknown }): ToolError };
interface Error { code?: any; tool?: any; retryable?: any; details?: any }

/** Adds a line of text to the answer, beside the value. */
declare function text(value: unknown): void;
declare function progress(message: unknown, fraction?: number): void;
/** Resolves after that many milliseconds, or at that date, however far away: the run may be suspended until then. */
declare function sleep(until: number | Date): Promise<void>;
/** Resolves with what somebody outside sends to this run under that name. Rejects with WAIT_TIMED_OUT after \`timeoutMs\`. */
declare function waitFor(event: string, options?: { timeoutMs?: number }): Promise<any>;
/** Reads results that earlier runs kept. */
declare var results: { read(handle: string, options?: { path?: string; offset?: number; limit?: number; grep?: string; search?: string }): Promise<any> };
`;

/**
 * What a program finds in its world beside ECMAScript 2023: the guest's globals, and nothing of a browser or of Node.
 * The sandbox drivers define them; a name that is missing there must be missing here.
 */
export const guestLibText = `
interface GuestConsole {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  trace(...values: unknown[]): void;
  dir(value: unknown, options?: unknown): void;
  table(value: unknown, columns?: readonly string[]): void;
  assert(condition?: unknown, ...values: unknown[]): void;
  group(...values: unknown[]): void;
  groupEnd(): void;
  count(label?: string): void;
  time(label?: string): void;
  timeLog(label?: string, ...values: unknown[]): void;
  timeEnd(label?: string): void;
}
declare var console: GuestConsole;

interface URLSearchParams {
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, key: string, parent: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare var URLSearchParams: { prototype: URLSearchParams; new (init?: any): URLSearchParams };
interface URL {
  hash: string; host: string; hostname: string; href: string; readonly origin: string; password: string; pathname: string;
  port: string; protocol: string; search: string; readonly searchParams: URLSearchParams; username: string;
  toString(): string;
  toJSON(): string;
}
declare var URL: { prototype: URL; new (url: string | URL, base?: string | URL): URL; canParse(url: string | URL, base?: string | URL): boolean; parse(url: string | URL, base?: string | URL): URL | null };

interface TextEncoder { readonly encoding: string; encode(text?: string): Uint8Array<ArrayBuffer>; encodeInto(text: string, target: Uint8Array): { read: number; written: number } }
declare var TextEncoder: { prototype: TextEncoder; new (): TextEncoder };
interface TextDecoder { readonly encoding: string; readonly fatal: boolean; readonly ignoreBOM: boolean; decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string }
declare var TextDecoder: { prototype: TextDecoder; new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder };

declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare var crypto: { randomUUID(): string; getRandomValues<T extends ArrayBufferView>(array: T): T };

declare function setTimeout(callback: (...args: any[]) => unknown, delayMs?: number, ...args: any[]): number;
declare function setInterval(callback: (...args: any[]) => unknown, delayMs?: number, ...args: any[]): number;
declare function clearTimeout(id?: number): void;
declare function clearInterval(id?: number): void;
declare function queueMicrotask(callback: () => unknown): void;

${ownLibText}`;
