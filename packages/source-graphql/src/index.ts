export { createGraphqlSource } from "./graphql-source.ts";
export type { GraphqlSourceOptions } from "./graphql-source.ts";
