export type { SqlPlace } from "./create-driver.ts";
export type { NamedQuery } from "./named-query.ts";
export { createSqlSource } from "./sql-source.ts";
export { createTableReader } from "./table-reader.ts";
export type { ReadRow, TableReader, TableReaderOptions } from "./table-reader.ts";
export type { SqlSourceOptions } from "./sql-source.ts";
