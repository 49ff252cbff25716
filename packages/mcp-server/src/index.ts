export type { AnswersPage, PageAnswer } from "./answers-endpoint.ts";
export type { HttpEndpoint, HttpOptions } from "./http-endpoint.ts";
export type { McpGateServer, McpServerOptions, StdioEndpoint, StdioStreams } from "./mcp-server.ts";
export { createClientAsker } from "./client-asker.ts";
export type { ClientAsker } from "./client-asker.ts";
export { createMcpServer } from "./mcp-server.ts";
