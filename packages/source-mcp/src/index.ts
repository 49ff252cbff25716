export { createClientCredentials } from "./auth/client-credentials.ts";
export type { ClientCredentialsOptions } from "./auth/client-credentials.ts";
export type { OAuthRecord, OAuthStore } from "./auth/oauth-record.ts";
export { createOAuthTokens } from "./auth/oauth-tokens.ts";
export type { OAuthTokensOptions } from "./auth/oauth-tokens.ts";
export { signIn } from "./auth/sign-in.ts";
export type { SignInOptions } from "./auth/sign-in.ts";
export type { McpCommand, McpEndpoint, McpSourceOptions } from "./mcp-source.ts";
export { createMcpSource } from "./mcp-source.ts";
