export type { McpSourceOptions } from "./mcp-source.ts";
export { createMcpSource } from "./mcp-source.ts";
