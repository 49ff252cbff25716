import mammoth from "mammoth";
import type { DocumentText } from "./document-text.ts";
import { Unreadable } from "./document-text.ts";
import { htmlText } from "./html-text.ts";

/** A Word document. Nothing outside of it is read, and its pictures are left out. */
export async function docxText(bytes: Uint8Array): Promise<DocumentText> {
  try {
    const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }, { externalFileAccess: false, convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: "" })) });
    return htmlText(value);
  } catch (fault) {
    throw new Unreadable(`it is no Word document that can be read (${fault instanceof Error ? fault.message.slice(0, 200) : "unknown"})`);
  }
}
