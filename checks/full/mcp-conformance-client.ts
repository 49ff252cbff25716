// A client for the scenarios of the official MCP conformance suite: our MCP source, and where a scenario wants somebody to
// sign in, our sign-in with a person who follows every page. The suite starts it with the URL as its last argument.
import { createClientCredentials, createMcpSource, createOAuthTokens, signIn } from "../../packages/source-mcp/src/index.ts";
import type { McpEndpoint, OAuthRecord, OAuthStore } from "../../packages/source-mcp/src/index.ts";
import { localPrincipal } from "@callgate/contract";
import type { Source, ToolContext } from "@callgate/contract";

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
}

const url = process.argv.at(-1) ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
let record: OAuthRecord | undefined;
const store: OAuthStore = {
  read: () => Promise.resolve(record),
  write: (written) => {
    record = written;
    return Promise.resolve();
  },
  remove: () => {
    record = undefined;
    return Promise.resolve();
  },
  exclusively: (work) => work(),
};

/** What a person does in a browser: signs in, and is sent back. */
async function follow(page: URL): Promise<void> {
  const { headers } = await fetch(page, { redirect: "manual" });
  await fetch(headers.get("location") ?? "");
}

async function login(scopes?: readonly string[]): Promise<void> {
  const { client_id: clientId, client_secret: clientSecret } = context;
  await signIn({
    url,
    store,
    fetch,
    show: follow,
    now: Date.now,
    signal: AbortSignal.timeout(20_000),
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(clientId === undefined ? {} : { client: { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) } }),
    ...(scopes === undefined ? {} : { scopes }),
  });
}

function credentials(): McpEndpoint["auth"] {
  const { client_id: clientId = "", client_secret: clientSecret = "", private_key_pem: privateKey, signing_algorithm: algorithm = "ES256" } = context;
  const proof = privateKey === undefined ? { clientSecret } : { privateKey, algorithm };
  return scenario.startsWith("auth/client-credentials") ? createClientCredentials({ url, clientId, proof, fetch, now: Date.now }) : createOAuthTokens({ store, fetch, signInWith: "login", now: Date.now });
}

const log = (): void => undefined;
const signal = AbortSignal.timeout(25_000);
const toolContext: ToolContext = { signal, principal: localPrincipal, runId: "run_1", callId: "run_1.1", idempotencyKey: "key", log: { debug: log, info: log, warn: log, error: log }, progress: log, reportCost: log, attach: () => Promise.reject(new Error("not used")) };

async function withSignIn<Value>(source: Source, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const scope = (error as { readonly details?: { readonly scope?: string } }).details?.scope;
    if (source.state.kind !== "auth_needed" && scope === undefined) throw error;
    const granted = record?.tokens.scope?.split(" ") ?? [];
    await login(scope === undefined ? undefined : [...new Set([...granted, ...scope.split(" ")])]);
    return await work();
  }
}

const auth = credentials();
// A person signs in at once; the source would wait a moment before it tries a server again that refused it.
const source = createMcpSource({ namespace: "conformance", url, fetch, now: () => performance.now() * 1_000, ...(auth === undefined ? {} : { auth }) });
try {
  const { tools } = await withSignIn(source, () => source.list(signal));
  for (const { tool } of tools) {
    const properties = Object.keys((tool.input as { readonly properties?: object }).properties ?? {});
    const args = Object.fromEntries(properties.map((name, index) => [name, index + 1]));
    await withSignIn(source, () => source.call(tool.name, args, toolContext)).catch((error: unknown) => console.error(String(error)));
  }
} finally {
  await source.close();
}
