export { createDocumentsSource } from "./documents-source.ts";
export type { DocumentsSourceOptions } from "./documents-options.ts";
