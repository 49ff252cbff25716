import { getDocumentProxy } from "unpdf";
import { Unreadable } from "./document-text.ts";
import type { DocumentText, Section } from "./document-text.ts";

/** A PDF, each page a section. Pages are read until there is as much text as is wanted. */
export async function pdfText(bytes: Uint8Array, maxChars: number): Promise<DocumentText> {
  try {
    const pdf = await getDocumentProxy(bytes, { useSystemFonts: false, stopAtErrors: false, verbosity: 0 });
    const sections: Section[] = [];
    let chars = 0;
    for (let page = 1; page <= pdf.numPages && chars <= maxChars; page++) {
      const text = await pageText(await pdf.getPage(page));
      chars += text.length;
      if (text.trim() !== "") sections.push({ heading: `Page ${page}`, text });
    }
    const title = titleOf((await pdf.getMetadata().catch(() => undefined))?.info);
    if (sections.length === 0) throw new Unreadable("its pages hold no text; they may be pictures of pages");
    return { ...(title === undefined ? {} : { title }), sections };
  } catch (fault) {
    if (fault instanceof Unreadable) throw fault;
    const { name, message } = fault instanceof Error ? fault : { name: "", message: "unknown" };
    throw new Unreadable(name === "PasswordException" ? "it is locked with a password" : `it is no PDF that can be read (${message.slice(0, 200)})`);
  }
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

async function pageText(page: Page): Promise<string> {
  const { items } = await page.getTextContent();
  const text = items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : "")).join("");
  page.cleanup();
  return text;
}

function titleOf(info: unknown): string | undefined {
  const title = typeof info === "object" && info !== null && "Title" in info ? info.Title : undefined;
  return typeof title === "string" && title.trim() !== "" ? title.trim() : undefined;
}
