/** Below this many characters a derived form turns up in texts by chance; only the exact secret is looked for. */
const MIN_FORM_CHARS = 6;

/**
 * The texts under which a secret turns up: exact, escaped inside JSON, URL-encoded (both hex cases, and as in forms),
 * hex (both cases), and base64 in both alphabets at each of the three places it can start in an encoded stream.
 * Longest first.
 */
export function secretForms(secret: string): readonly string[] {
  if (secret === "") return [];
  const bytes = Buffer.from(secret, "utf8");
  const url = encodeURIComponent(secret.toWellFormed());
  const strictUrl = url.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const hex = bytes.toString("hex");
  const derived = [
    JSON.stringify(secret).slice(1, -1),
    ...[url, strictUrl].flatMap((text) => [text, lowerEscapes(text), text.replaceAll("%20", "+"), lowerEscapes(text).replaceAll("%20", "+")]),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => {
      const inner = base64At(bytes, offset);
      return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
    }),
  ];
  const forms = new Set([secret, ...derived.filter((form) => form.length >= MIN_FORM_CHARS)]);
  return [...forms].sort((a, b) => b.length - a.length);
}

/** The characters that the secret alone decides when `offset` bytes of something else stand before it. */
function base64At(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function lowerEscapes(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
}
