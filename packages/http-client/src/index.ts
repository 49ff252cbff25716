// HTTP to the outside.

export { answerError, failureError } from "./answer-error.ts";
export type { ErrorScene } from "./answer-error.ts";
export type { ApiKeyAuth, AuthSpec, BasicAuth, BearerAuth, OauthAuth } from "./auth/auth-spec.ts";
export { createCredentials } from "./auth/credentials.ts";
export type { Applied, Credentials, CredentialsHost } from "./auth/credentials.ts";
export type { TokenFetch } from "./auth/oauth-tokens.ts";
export { createFetch } from "./create-fetch.ts";
export type { FetchOptions } from "./create-fetch.ts";
export { isOfTheConnection } from "./header-rules.ts";
export type { HeaderPair } from "./header-rules.ts";
export { defaultHttpBounds } from "./http-bounds.ts";
export type { HttpBounds } from "./http-bounds.ts";
export { createHttpClient } from "./http-client.ts";
export type { HttpClient, HttpClientOptions } from "./http-client.ts";
export type { HttpRequest } from "./http-request.ts";
export { HttpFailed } from "./http-result.ts";
export type { HttpAnswer, HttpFailure, HttpFailureReason, HttpResult, HttpStream } from "./http-result.ts";
export { bareType, isJsonType, isTextType, isXmlType, textOf } from "./media-type.ts";
export { noticeReach } from "./notice-reach.ts";
export type { Reach } from "./notice-reach.ts";
export { originOf } from "./origin-guard.ts";
export type { OriginGuardOptions } from "./origin-guard.ts";
export { shownUrl } from "./shown-url.ts";
