import { convert } from "html-to-text";
import type { FormatCallback } from "html-to-text";
import { decodeText, namedCharset } from "./decode-text.ts";
import type { DocumentText } from "./document-text.ts";
import { markedText } from "./sections.ts";

/** Deeper elements are left out: nobody writes so, and each level is a call within a call. */
const maxDepth = 200;

/** A heading as a line of Markdown, so that one way of finding headings serves. */
const markedHeading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addInline(`${"#".repeat(Number(element.name?.slice(1) ?? 1))} `);
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

export function htmlFileText(bytes: Uint8Array): DocumentText {
  const html = decodeText(bytes, namedCharset(bytes));
  const title = /<title[^>]{0,200}>([^<]{1,500})/i.exec(html)?.[1];
  const text = htmlText(html);
  const named = title === undefined ? "" : convert(title, { wordwrap: false }).trim();
  return { ...text, ...(named === "" ? {} : { title: named }) };
}

/** The text of a page without its links and pictures; scripts and styles are no text. */
export function htmlText(html: string): DocumentText {
  const text = convert(html, {
    wordwrap: false,
    limits: { maxDepth, maxInputLength: html.length },
    formatters: { markedHeading },
    selectors: [
      { selector: "a", options: { ignoreHref: true } },
      { selector: "img", format: "skip" },
      { selector: "title", format: "skip" },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, format: "markedHeading" })),
      { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false, maxColumnWidth: 120 } },
    ],
  });
  return markedText(text);
}
