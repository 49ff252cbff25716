/** A media type without its parameters, lower case; "" where there is none. */
export function bareType(contentType: string | null | undefined): string {
  return (contentType ?? "").split(";", 1).join("").trim().toLowerCase();
}

export function isJsonType(contentType: string): boolean {
  return /^(?:application|text)\/json$|\+json$/.test(bareType(contentType));
}

export function isXmlType(contentType: string): boolean {
  return /^(?:application|text)\/xml$|\+xml$/.test(bareType(contentType)) && bareType(contentType) !== "image/svg+xml";
}

/** Whether people can read it as text. */
export function isTextType(contentType: string): boolean {
  const type = bareType(contentType);
  return type.startsWith("text/") || isJsonType(type) || isXmlType(type) || /^(?:application\/(?:x-www-form-urlencoded|x-ndjson|jsonl|yaml|x-yaml|javascript|ecmascript|graphql|sql|csv|toml)|image\/svg\+xml)$|\+yaml$/.test(type);
}

/** The text of a body in the charset it names; UTF-8 where it names none that is known. */
export function textOf(bytes: Uint8Array, contentType: string): string {
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType) ?? [];
  return decoderFor(charset).decode(bytes);
}

function decoderFor(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}
