// Door: tools by name.

export { createCatalog } from "./catalog/catalog.ts";
export type { Catalog, CatalogListing, CatalogNamespace, CatalogSearchOptions, Visible } from "./catalog/catalog.ts";
export type { CatalogTool } from "./catalog/catalog-tool.ts";
export { compareTools } from "./catalog/compare-tools.ts";
export type { KeptTool, ToolChange } from "./catalog/compare-tools.ts";
export { createSpecParser } from "./catalog/validation/parse-spec.ts";
export type { SpecParser } from "./catalog/validation/parse-spec.ts";
export { createSchemaValidator } from "./catalog/validation/schema-validator.ts";
export type { SchemaValidator } from "./catalog/validation/schema-validator.ts";
export { identifierOf } from "./catalog/naming.ts";
export { nearestNames } from "./lib/nearest-names.ts";
