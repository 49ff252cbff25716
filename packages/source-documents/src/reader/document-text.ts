/** A part of a document under one heading. */
export interface Section {
  /** The headings it stands under, outermost first, joined by " > "; a page of a PDF, rows of a table. */
  readonly heading?: string;
  readonly text: string;
}

/** A document as text, in order. */
export interface DocumentText {
  /** As the document itself has it. */
  readonly title?: string;
  readonly sections: readonly Section[];
}

/** Why a file gives no text, for people: a clause without its name. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}
