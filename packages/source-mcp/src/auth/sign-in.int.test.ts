import { afterEach, describe, expect, test } from "vitest";
import { memoryStore, startAuthServer } from "../fixtures/auth-server.ts";
import type { AuthFaults, AuthServer } from "../fixtures/auth-server.ts";
import { createMcpSource } from "../mcp-source.ts";
import { createOAuthTokens } from "./oauth-tokens.ts";
import { signIn } from "./sign-in.ts";
import type { SignInOptions } from "./sign-in.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function world(faults: AuthFaults = {}) {
  const server = await startAuthServer(faults);
  closing.push(() => server.close());
  const store = memoryStore();
  let nowMs = 1_000_000;
  const now = (): number => nowMs;
  const login = (more: Partial<SignInOptions> = {}) => signIn({ url: server.url, store, fetch, now, show: async (page) => void (await server.follow(page)), signal: AbortSignal.timeout(20_000), ...more });
  const tokens = () => createOAuthTokens({ store, fetch, signInWith: "callgate auth login notes", now });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { server, store, login, tokens, pass };
}

const refreshes = ({ tokenRequests }: AuthServer) => tokenRequests.filter((form) => form["grant_type"] === "refresh_token");

describe("signIn", () => {
  test("asks as the current revision says: metadata of the resource, PKCE, resource and scope; the source then works", async () => {
    const { server, store, login, tokens } = await world();
    const record = await login();
    expect(server.authorizations[0]).toMatchObject({ response_type: "code", code_challenge_method: "S256", resource: server.url, scope: "mcp:read", client_id: "client-1" });
    expect(server.tokenRequests[0]).toMatchObject({ grant_type: "authorization_code", resource: server.url, client_id: "client-1" });
    expect(record).toMatchObject({ issuer: server.issuer, expiresAtMs: 1_000_000 + 3_600_000, tokens: { scope: "mcp:read" } });
    expect(store.record).toEqual(record);
    const source = createMcpSource({ namespace: "notes", url: server.url, fetch, auth: tokens() });
    closing.push(() => source.close());
    const { tools } = await source.list(AbortSignal.timeout(20_000));
    expect(tools.map(({ tool }) => tool.name)).toEqual(["whoami"]);
  });

  test("a server that says nothing of where to sign in has the configured issuer, whose tokens are for that server, renewed ones too", async () => {
    const { server, store, login, tokens, pass } = await world({ isSilent: true });
    const elsewhere = await startAuthServer();
    closing.push(() => elsewhere.close());
    await login({ issuer: elsewhere.issuer, show: async (page) => void (await elsewhere.follow(page)) });
    expect([elsewhere.authorizations[0]?.["resource"], elsewhere.tokenRequests[0]?.["resource"], store.record?.issuer]).toEqual([server.url, server.url, elsewhere.issuer]);
    pass(3_600_000);
    await tokens().token();
    expect(elsewhere.tokenRequests.at(-1)).toMatchObject({ grant_type: "refresh_token", resource: server.url });
    expect(store.record?.resource).toBe(server.url);
  });

  test("without a sign-in the source says who has to do what, and is well once somebody has", async () => {
    const { server, login, tokens } = await world();
    const source = createMcpSource({ namespace: "notes", url: server.url, fetch, auth: tokens(), now: () => performance.now() * 1_000 });
    closing.push(() => source.close());
    await expect(source.list(AbortSignal.timeout(20_000))).rejects.toMatchObject({ code: "SOURCE_FAILED", message: expect.stringContaining("needs somebody to sign in: callgate auth login notes") as string });
    expect(source.state.kind).toBe("auth_needed");
    await login();
    expect((await source.list(AbortSignal.timeout(20_000))).tools).toHaveLength(1);
    expect(source.state.kind).toBe("ready");
  });

  test("a client metadata document stands for the client where the authorization server takes one", async () => {
    const { server, login } = await world({ supportsDocuments: true });
    await login({ clientMetadataUrl: "https://callgate.example/client.json" });
    expect([server.registrations, server.authorizations[0]?.["client_id"]]).toEqual([0, "https://callgate.example/client.json"]);
  });

  test("a client that was registered beforehand is used as it is", async () => {
    const { server, login } = await world();
    await login({ client: { clientId: "ours" }, scopes: ["mcp:read", "mcp:write"] });
    expect([server.registrations, server.authorizations[0]]).toEqual([0, expect.objectContaining({ client_id: "ours", scope: "mcp:read mcp:write" })]);
  });

  test.each<[string, AuthFaults]>([
    ["another issuer answers", { iss: "https://evil.example" }],
    ["the issuer is left out where it is always sent", { iss: "none" }],
    ["the page to sign in at is a script", { authorizationEndpoint: "javascript:alert(1)" }],
    ["the page to sign in at is a file", { authorizationEndpoint: "file:///etc/passwd" }],
    ["the token would be for another resource", { resource: "https://evil.example/mcp" }],
  ])("mcp-011: nobody is signed in when %s", async (_what, faults) => {
    const { server, store, login } = await world(faults);
    const shown: string[] = [];
    await expect(login({ show: async (page) => { shown.push(page.protocol); await server.follow(page); } })).rejects.toMatchObject({ code: "SOURCE_FAILED", message: expect.stringContaining("Nothing was kept") as string });
    expect(store.record).toBeUndefined();
    expect(shown.every((protocol) => protocol === "http:")).toBe(true);
  });

  test("an answer with another state is refused and changes nothing", async () => {
    const { server, login } = await world();
    let forged = 0;
    await login({
      show: async (page) => {
        const back = new URL(page.searchParams.get("redirect_uri") ?? "");
        forged = (await fetch(`${back.href}?code=stolen&state=guessed`)).status;
        await server.follow(page);
      },
    });
    expect(forged).toBe(400);
  });

  test("who gives up waiting has signed nobody in", async () => {
    const { store, login } = await world();
    const gone = new AbortController();
    await expect(login({ show: () => gone.abort(new Error("gave up")), signal: gone.signal })).rejects.toThrow("gave up");
    expect(store.record).toBeUndefined();
  });
});

describe("createOAuthTokens", () => {
  test("a token that nears its end is renewed once, whoever asks, in whatever process", async () => {
    const { server, login, tokens, pass } = await world();
    await login();
    pass(3_600_000 - 30_000);
    const [first, second] = [tokens(), tokens()];
    const given = await Promise.all([first.token(), first.token(), first.token(), second.token(), second.token()]);
    expect([new Set(given).size, refreshes(server).length]).toEqual([1, 1]);
    expect(refreshes(server)[0]).toMatchObject({ resource: server.url, client_id: "client-1" });
    expect(server.validTokens.has(given[0] ?? "")).toBe(true);
  });

  test("what may pass keeps the sign-in: the token is used while it lasts, and renewed once that works again", async () => {
    const { server, store, login, tokens, pass } = await world();
    const { tokens: before } = await login();
    server.faults.refresh = { status: 503, body: JSON.stringify({ error: "temporarily_unavailable" }) };
    pass(3_600_000 - 30_000);
    expect(await tokens().token()).toBe(before.access_token);
    pass(60_000);
    await expect(tokens().token()).rejects.toThrow();
    expect(store.record?.tokens.refresh_token).toBe(before.refresh_token);
    server.faults.refresh = undefined;
    expect(await tokens().token()).not.toBe(before.access_token);
  });

  test("what will not pass ends the sign-in, and says what to do", async () => {
    const { server, store, login, tokens, pass } = await world();
    await login();
    server.faults.refresh = { status: 400, body: JSON.stringify({ error: "invalid_grant" }) };
    pass(4_000_000);
    await expect(tokens().token()).rejects.toThrow("needs somebody to sign in again (the authorization server says invalid_grant): callgate auth login notes");
    expect(store.record).toBeUndefined();
  });

  test("a token that the server refuses before its end is renewed, and one that another process renewed is taken", async () => {
    const { server, login, tokens } = await world();
    await login();
    const [first, second] = [tokens(), tokens()];
    await Promise.all([first.token(), second.token()]);
    await first.onUnauthorized?.({} as never);
    await second.onUnauthorized?.({} as never);
    expect(refreshes(server)).toHaveLength(1);
    expect(await first.token()).toBe(await second.token());
  });

  test("mcp-012: the token goes to the server it is for, and not along with a redirect to another origin", async () => {
    const { login, tokens } = await world();
    await login();
    const seen: (string | null)[] = [];
    const redirecting: typeof fetch = (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      seen.push(`${url.origin} ${new Headers(init?.headers).get("authorization") === null ? "without" : "with"}`);
      return Promise.resolve(url.hostname === "notes.example" ? new Response(null, { status: 307, headers: { location: "https://evil.example/mcp" } }) : new Response("{}"));
    };
    const source = createMcpSource({ namespace: "notes", url: "https://notes.example/mcp", fetch: redirecting, auth: tokens() });
    closing.push(() => source.close());
    await expect(source.list(AbortSignal.timeout(10_000))).rejects.toMatchObject({ code: "SOURCE_FAILED" });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((one) => one?.startsWith("https://evil.example"))).toEqual([]);
  });
});
