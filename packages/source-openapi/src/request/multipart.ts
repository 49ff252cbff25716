import { randomBytes } from "node:crypto";

export interface MultipartPart {
  readonly name: string;
  readonly content: Uint8Array;
  /** Makes it a file. */
  readonly filename?: string;
  readonly contentType?: string;
}

/**
 * A multipart body (RFC 7578). Not the platform's `FormData`, which makes a file of every part that has a media type, so
 * that a service finds JSON fields among its uploads.
 */
export function writeMultipart(mediaType: string, parts: readonly MultipartPart[]): { readonly contentType: string; readonly content: Uint8Array } {
  const boundary = `callgate-${randomBytes(24).toString("hex")}`;
  const chunks = parts.flatMap(({ name, content, filename, contentType }) => {
    const file = filename === undefined ? "" : `; filename="${quoted(filename)}"`;
    const type = contentType === undefined ? "" : `Content-Type: ${contentType.replaceAll(/[^\x20-\x7e]/g, "")}\r\n`;
    return [Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n${type}\r\n`), content, Buffer.from("\r\n")];
  });
  const [bare = mediaType] = mediaType.split(";");
  return { contentType: `${bare.trim()}; boundary=${boundary}`, content: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]) };
}

/** As browsers write names: what would end the quotes or the line is escaped. */
function quoted(text: string): string {
  return text.toWellFormed().replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
