import { resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { OAuthStore } from "@callgate/source-mcp";
import { openPage } from "../../auth/open-page.ts";
import { createSignInFile } from "../../auth/sign-in-files.ts";
import type { McpServerConfig } from "../../config/mcp-server-schema.ts";
import { endpointFetch, endpointOf } from "../../mcp-endpoint.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { visible } from "../terminal.ts";
import { timeText } from "../time-of.ts";

/** Somebody has to find the page and type a password. */
const SIGN_IN_MS = 10 * 60_000;

export interface LoginOptions {
  /** False: the page is only printed. */
  readonly browser?: boolean;
  readonly callbackPort?: number;
  readonly scope?: readonly string[];
}

/** `callgate auth login SOURCE` */
export async function loginCommand(namespace: string, options: LoginOptions, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const { url, store, server, fetch } = await serverOf(namespace, context);
  if (server.oauth.isOwnClient) throw new CallgateError("USAGE", `"${namespace}" acts for itself (oauth.grant is client_credentials): nobody signs in there`);
  const { signIn } = await import("@callgate/source-mcp");
  const { clientId, clientSecret, issuer, clientMetadataUrl, scopes } = server.oauth;
  const record = await signIn({
    url,
    store,
    fetch,
    now: Date.now,
    signal: AbortSignal.any([context.signal, AbortSignal.timeout(SIGN_IN_MS)]),
    show: (page) => {
      terminal.err(`Sign in at this page${options.browser === false ? "" : ", which should open by itself"}:\n\n  ${visible(page.href)}\n\nWaiting until that is done; Ctrl-C gives up.\n`);
      if (options.browser !== false) openPage(page);
    },
    ...(clientId === undefined ? {} : { client: { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) } }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    ...(options.scope === undefined ? (scopes === undefined ? {} : { scopes }) : { scopes: options.scope }),
    ...(options.callbackPort === undefined ? {} : { callbackPort: options.callbackPort }),
  });
  const ends = record.expiresAtMs === undefined ? "" : `, until ${timeText(record.expiresAtMs)}Z`;
  const renewal = record.tokens.refresh_token === undefined ? "; it cannot be renewed" : "; it is renewed by itself";
  terminal.out(context.options.json === true ? `${JSON.stringify(stateOf(namespace, url, record))}\n` : `${namespace}: signed in at ${visible(record.issuer)}${ends}${renewal}\n`);
  return exitCodes.ok;
}

/** `callgate auth ls`: exit code 4 where a sign-in has ended for good. */
export async function listSignInsCommand(context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const { config, folder } = await context.configuration();
  const states = await Promise.all(
    Object.entries(config.mcpServers ?? {})
      .filter(([, server]) => server.url !== undefined && server.disabled !== true)
      .map(async ([key, server]) => {
        const { url } = endpointOf(key, server, { folder, env: process.env });
        return stateOf(server.namespace ?? key, url, await storeOf(url, context).then((store) => store.read()));
      }),
  );
  if (context.options.json === true) terminal.out(`${JSON.stringify(states)}\n`);
  else if (states.length === 0) terminal.err("No source here is reached at a URL\n");
  else terminal.out(renderTable(["source", "state", "at", "until", "scopes"], states.map((one) => [one.source, stateWords[one.state], visible(one.issuer ?? ""), one.expiresAtMs === undefined ? "" : `${timeText(one.expiresAtMs)}Z`, visible(one.scopes ?? "")]), { columns: terminal.outColumns, colors: terminal.outColors }));
  return states.some(({ state }) => state === "ended") ? exitCodes.auth : exitCodes.ok;
}

/** `callgate auth logout SOURCE` */
export async function logoutCommand(namespace: string, context: CommandContext): Promise<ExitCode> {
  const { store, fetch } = await serverOf(namespace, context);
  const record = await store.read().catch(() => undefined);
  await store.exclusively(() => store.remove());
  const revoked = record !== undefined && (await revoke(record, fetch));
  const told = record === undefined ? `${namespace}: nobody was signed in` : `${namespace}: signed out${revoked ? ", and the authorization server was told" : ". The authorization server was not told: its token may be good until it ends"}`;
  context.terminal.out(context.options.json === true ? `${JSON.stringify({ source: namespace, signedOut: record !== undefined, revoked })}\n` : `${told}\n`);
  return exitCodes.ok;
}

type Kept = NonNullable<Awaited<ReturnType<OAuthStore["read"]>>>;

interface SignInState {
  readonly source: string;
  readonly url: string;
  readonly state: "signed_in" | "ended" | "none";
  readonly issuer?: string;
  readonly expiresAtMs?: number;
  readonly scopes?: string;
}

const stateWords: Readonly<Record<SignInState["state"], string>> = { signed_in: "signed in", ended: "ended: sign in again", none: "nobody signed in" };

function stateOf(source: string, url: string, record: Kept | undefined): SignInState {
  const { origin, pathname } = new URL(url);
  const at = { source, url: `${origin}${pathname}` };
  if (record === undefined) return { ...at, state: "none" };
  const isOver = record.tokens.refresh_token === undefined && (record.expiresAtMs ?? Infinity) <= Date.now();
  return { ...at, state: isOver ? "ended" : "signed_in", issuer: record.issuer, ...(record.expiresAtMs === undefined ? {} : { expiresAtMs: record.expiresAtMs }), ...(record.tokens.scope === undefined ? {} : { scopes: record.tokens.scope }) };
}

/** RFC 7009, where the authorization server has it. */
async function revoke({ discovery, client, tokens }: Kept, fetch: Awaited<ReturnType<typeof serverOf>>["fetch"]): Promise<boolean> {
  const { revocation_endpoint: endpoint } = (discovery.authorizationServerMetadata ?? {}) as { readonly revocation_endpoint?: unknown };
  if (typeof endpoint !== "string") return false;
  const body = new URLSearchParams({ token: tokens.refresh_token ?? tokens.access_token, client_id: client.client_id, ...(client.client_secret === undefined ? {} : { client_secret: client.client_secret }) });
  return await fetch(endpoint, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: body.toString() }).then((response) => response.ok, () => false);
}

async function storeOf(url: string, { configuration, folders }: CommandContext): Promise<OAuthStore> {
  const { config, folder } = await configuration();
  const [{ keyFileAt }, { openMasterKey }] = await Promise.all([import("../../open-journal.ts"), import("@callgate/runtime/journal")]);
  const keyFile = keyFileAt(config.journal ?? {}, { folder: resolve(folder), stateFolder: folders.state });
  return createSignInFile(url, { stateFolder: folders.state, key: async () => (await openMasterKey(keyFile)).key });
}

/** Errors: USAGE where no such source is reached at a URL. */
async function serverOf(namespace: string, context: CommandContext) {
  const { config, folder } = await context.configuration();
  const found = Object.entries(config.mcpServers ?? {}).find(([key, server]) => (server.namespace ?? key) === namespace || key === namespace);
  if (found === undefined || found[1].url === undefined) {
    const names = Object.entries(config.mcpServers ?? {}).flatMap(([key, server]: [string, McpServerConfig]) => (server.url === undefined ? [] : [server.namespace ?? key]));
    throw new CallgateError("USAGE", `${found === undefined ? `There is no MCP server "${namespace}" in the configuration` : `"${namespace}" is started as a command, which brings its credentials in env`}; ${names.length === 0 ? "none is reached at a URL" : `those at a URL: ${names.join(", ")}`}`);
  }
  const [key, server] = found;
  const endpoint = endpointOf(key, server, { folder, env: process.env });
  return { url: endpoint.url, server: endpoint, fetch: endpointFetch(endpoint), store: await storeOf(endpoint.url, context) };
}
