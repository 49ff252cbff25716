export { createDocumentsSource, createTableDocumentsSource } from "./documents-source.ts";
export type { DocumentsSourceOptions, TableDocumentsOptions } from "./documents-options.ts";
export type { DocumentRow, DocumentRows } from "./table/document-table.ts";
