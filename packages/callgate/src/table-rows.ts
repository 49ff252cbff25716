import type { DocumentRow, DocumentRows } from "@callgate/source-documents";
import type { ReadRow, SqlPlace } from "@callgate/source-sql";
import { loadSqlPackage } from "./sql-sources.ts";

/** A table whose rows are documents. */
export type TableOfDocuments = SqlPlace & {
  readonly namespace: string;
  readonly name: string;
  readonly text: readonly string[];
  readonly title?: string | undefined;
  readonly key?: readonly string[] | undefined;
  readonly schemas?: readonly string[] | undefined;
};

/** Joins the two packages, which know nothing of each other. Errors: CONFIG_INVALID where that of SQL is not installed, or the URL is of no known kind. */
export async function tableRows(table: TableOfDocuments): Promise<DocumentRows> {
  const { name, text, title, key, schemas, namespace } = table;
  const place: SqlPlace = table.file === undefined ? { url: table.url } : { file: table.file };
  const { createTableReader } = await loadSqlPackage("documents of a table");
  const reader = createTableReader({ ...place, namespace, table: name, schemas, columns: [...text, ...(title === undefined ? [] : [title])], ...(key === undefined ? {} : { key }) });
  return {
    label: `the table ${name}`,
    async *read(signal) {
      for await (const page of reader.pages(signal)) yield page.map((row) => documentOf(row, { name, text, title }));
    },
    close: () => reader.close(),
  };
}

function documentOf({ key, cells }: ReadRow, { name, text, title }: Pick<TableOfDocuments, "name" | "text" | "title">): DocumentRow {
  const document = [name, ...key.map((value) => encodeURIComponent(textOf(value)))].join("/");
  const written = title === undefined ? "" : textOf(cells[title]).trim();
  const sections = text.map((column) => ({ heading: column, text: textOf(cells[column]) })).filter((section) => section.text.trim() !== "");
  return { document, title: written === "" ? document : written, sections };
}

/** A cell as somebody would read it. */
function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return cell;
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString("base64");
  return typeof cell === "object" ? JSON.stringify(cell, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value)) : String(cell as number | bigint | boolean);
}
