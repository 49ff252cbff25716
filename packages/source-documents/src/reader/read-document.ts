import { decodeText } from "./decode-text.ts";
import type { DocumentText } from "./document-text.ts";
import { Unreadable } from "./document-text.ts";
import { splitPassages } from "./split-passages.ts";
import type { Passage } from "./split-passages.ts";

/** A file to be read. */
export interface DocumentFile {
  readonly bytes: Uint8Array;
  /** Of its name, lower case, with the dot. */
  readonly extension: string;
  /** Text beyond is left out. */
  readonly maxTextChars: number;
}

/** What came of reading it. Nothing of it can be trusted. */
export type DocumentRead =
  | { readonly kind: "read"; readonly title?: string; readonly passages: readonly Passage[]; readonly isCut: boolean }
  /** A clause for people, without the name of the file. */
  | { readonly kind: "unreadable"; readonly reason: string };

/** Formats that can be read, by extension. What is large is loaded when it is needed. */
const formats: Readonly<Record<string, (file: DocumentFile) => DocumentText | Promise<DocumentText>>> = {
  ".md": markdown,
  ".markdown": markdown,
  ".txt": ({ bytes }) => ({ sections: [{ text: decodeText(bytes) }] }),
  ".html": html,
  ".htm": html,
  ".pdf": async ({ bytes, maxTextChars }) => (await import("./pdf-text.ts")).pdfText(bytes, maxTextChars),
  ".docx": async ({ bytes }) => (await import("./docx-text.ts")).docxText(bytes),
  ".csv": async ({ bytes }) => (await import("./csv-text.ts")).csvText(bytes),
  ".tsv": async ({ bytes }) => (await import("./csv-text.ts")).csvText(bytes),
};

/** Extensions of files that are documents, with the dot. */
export const documentExtensions: ReadonlySet<string> = new Set(Object.keys(formats));

const maxTitleChars = 200;

/** Makes text of a file. Rejects only for what should never be: time and memory are for the thread to bound. */
export async function readDocument(file: DocumentFile): Promise<DocumentRead> {
  try {
    const format = formats[file.extension];
    if (format === undefined) throw new Unreadable(`files with ${file.extension} are not read`);
    const { title, sections } = await format(file);
    const named = title?.toWellFormed().replaceAll(/\s+/g, " ").trim().slice(0, maxTitleChars);
    return { kind: "read", ...(named === undefined || named === "" ? {} : { title: named }), ...splitPassages(sections, file.maxTextChars) };
  } catch (fault) {
    if (fault instanceof Unreadable) return { kind: "unreadable", reason: fault.message };
    return { kind: "unreadable", reason: `it cannot be read (${fault instanceof Error ? fault.message.slice(0, 200) : "unknown"})` };
  }
}

async function markdown({ bytes }: DocumentFile): Promise<DocumentText> {
  return (await import("./sections.ts")).markdownText(decodeText(bytes));
}

async function html({ bytes }: DocumentFile): Promise<DocumentText> {
  return (await import("./html-text.ts")).htmlFileText(bytes);
}
