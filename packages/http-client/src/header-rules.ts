export type HeaderPair = readonly [name: string, value: string];

/** Those of the connection and of the framing: whoever sets one of these speaks past the client. */
const ofTheConnection: ReadonlySet<string> = new Set([
  "host", "connection", "keep-alive", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "proxy-connection", "proxy-authenticate", "proxy-authorization", "http2-settings",
]);

/** What may go along to another origin than the one it was meant for. Anything else can be a key under a name of its own. */
const ofNoOrigin: ReadonlySet<string> = new Set(["accept", "accept-language", "content-type", "range", "user-agent"]);

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// RFC 9110, 5.5: visible characters, space and tab inside; bytes above 7f as they are. No CR, LF or NUL.
const fieldValue = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** Whether a header is the client's own business. */
export function isOfTheConnection(name: string): boolean {
  return ofTheConnection.has(name.toLowerCase());
}

/** Why a header cannot be sent; undefined when it can. Never holds the value. */
export function headerFault([name, value]: HeaderPair): string | undefined {
  if (!token.test(name)) return `"${name.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?")}" is no name of a header`;
  if (isOfTheConnection(name)) return `the header ${name} belongs to the connection and cannot be set`;
  if (!fieldValue.test(value)) return `the value of the header ${name} holds a character that no header may: a line break, a control character, or one beyond U+00FF`;
  return undefined;
}

/** The headers that a request to another origin keeps. */
export function withoutOrigin(headers: readonly HeaderPair[]): readonly HeaderPair[] {
  return headers.filter(([name]) => ofNoOrigin.has(name.toLowerCase()));
}
