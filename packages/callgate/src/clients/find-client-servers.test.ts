import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { configText } from "../config/config-text.ts";
import { clientFiles } from "./client-files.ts";
import { findClientServers } from "./find-client-servers.ts";

/** A home and a project with files, under the names they have on Linux. */
function machine(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  const home = mkdtempSync(join(tmpdir(), "callgate-clients-"));
  const folder = join(home, "project");
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) {
    const file = join(home, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text.replaceAll("HOME_FOLDER", home));
  }
  return { platform: "linux" as const, home, folder, env };
}

const desktop = ".config/Claude/claude_desktop_config.json";
const claudeCode = `{
  "numStartups": 12,
  "mcpServers": {
    "stripe": { "type": "http", "url": "https://mcp.stripe.com/", "headers": { "Authorization": "Bearer sk_live_abcdefghijklmnop1234" } },
    "api": { "type": "http", "url": "\${API_BASE_URL:-https://api.example.com}/mcp", "headers": { "Authorization": "Bearer \${API_KEY}" } }
  },
  "projects": {
    "HOME_FOLDER/project": { "allowedTools": [], "mcpServers": { "local": { "type": "stdio", "command": "node", "args": ["server.js"], "env": {} } } },
    "/somewhere/else": { "mcpServers": { "other": { "command": "other" } } }
  }
}`;
const vscode = `{
  // What is asked for once
  "inputs": [{ "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true }],
  "servers": {
    "perplexity": { "type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"], "env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" } },
    "files": { "type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "\${workspaceFolder}/docs", "\${userHome}/notes"] },
    "odd": { "type": "stdio", "command": "\${command:python.interpreterPath}", "args": ["-m", "odd"] },
  },
}`;
const cursor = `{ "mcpServers": {
  "github": { "url": "https://api.githubcopilot.com/mcp/", "headers": { "Authorization": "Bearer \${env:GITHUB_TOKEN}", "X-MCP-Toolsets": "repos" } },
  "linear": { "command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.app/sse", "--header", "Authorization: Bearer lin_api_abcdefghijklmnopqrstuvwxyz0123456789"] },
  "dotenv": { "command": "uvx", "args": ["some-server"], "envFile": "\${userHome}/some.env", "env": { "LOG_LEVEL": "debug" } }
} }`;

describe("findClientServers", () => {
  test("reads each client's own format and writes a configuration that holds no secret of them", () => {
    const host = machine({
      [desktop]: `{ "globalShortcut": "", "mcpServers": { "github-old": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_abcdefghijklmnopqrstuvwxyz0123456789" } }, "postgres": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://app:hunter2@db.example/shop"] } } }`,
      ".claude.json": claudeCode,
      ".config/Code/User/mcp.json": vscode,
      ".cursor/mcp.json": cursor,
      "some.env": "SOME_KEY=top-secret-value\nSOME_REGION=eu\n",
      ".codeium/windsurf/mcp_config.json": `{ "mcpServers": { "figma": { "serverUrl": "https://mcp.figma.com/mcp" } } }`,
      ".codex/config.toml": `model = "gpt-5"\n[mcp_servers.context7]\ncommand = "npx"\nargs = ["-y", "@upstash/context7-mcp"]\nenv_vars = ["LOCAL_TOKEN"]\n[mcp_servers.docs]\nurl = "https://docs.example/mcp"\nbearer_token_env_var = "DOCS_TOKEN"\nenabled = false\n`,
      ".gemini/settings.json": `{ "theme": "Default", "mcpServers": { "py": { "command": "python", "args": ["-m", "my_server"], "env": { "API_TOKEN": "$MY_API_TOKEN" }, "timeout": 15000, "includeTools": ["safe_tool"] } } }`,
    });
    const { servers, variables, notes } = findClientServers(host);
    expect(Object.fromEntries(servers.map(({ name, server }) => [name, server]))).toEqual({
      "github-old": { command: "npx", args: ["-y", "@modelcontextprotocol/server-github"], env: { GITHUB_PERSONAL_ACCESS_TOKEN: "env:GITHUB_PERSONAL_ACCESS_TOKEN" } },
      postgres: { command: "npx", args: ["-y", "@modelcontextprotocol/server-postgres", "${POSTGRES_URL}"] },
      stripe: { type: "http", url: "https://mcp.stripe.com/", headers: { Authorization: "Bearer ${STRIPE_TOKEN}" } },
      api: { type: "http", url: "${API_BASE_URL:-https://api.example.com}/mcp", headers: { Authorization: "Bearer ${API_KEY}" } },
      local: { command: "node", args: ["server.js"] },
      github: { url: "https://api.githubcopilot.com/mcp/", headers: { Authorization: "Bearer ${GITHUB_TOKEN}", "X-MCP-Toolsets": "env:GITHUB_X_MCP_TOOLSETS" } },
      linear: { command: "npx", args: ["-y", "mcp-remote", "https://mcp.linear.app/sse", "--header", "Authorization: Bearer ${LINEAR_AUTHORIZATION}"] },
      dotenv: { command: "uvx", args: ["some-server"], env: { SOME_KEY: "env:SOME_KEY", SOME_REGION: "env:SOME_REGION", LOG_LEVEL: "debug" } },
      perplexity: { command: "npx", args: ["-y", "server-perplexity-ask"], env: { PERPLEXITY_API_KEY: "env:PERPLEXITY_KEY" } },
      files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "./docs", `${host.home}/notes`] },
      odd: { command: "${command:python.interpreterPath}", args: ["-m", "odd"], disabled: true },
      figma: { url: "https://mcp.figma.com/mcp" },
      context7: { command: "npx", args: ["-y", "@upstash/context7-mcp"], env: { LOCAL_TOKEN: "env:LOCAL_TOKEN" } },
      docs: { url: "https://docs.example/mcp", headers: { Authorization: "Bearer ${DOCS_TOKEN}" }, disabled: true },
      py: { command: "python", args: ["-m", "my_server"], env: { API_TOKEN: "env:MY_API_TOKEN" }, allow: ["safe_tool"] },
    });
    expect(notes).toEqual([expect.stringContaining('"py" timeout means nothing here'), expect.stringContaining("${command:python.interpreterPath}")]);
    const all = JSON.stringify({ servers, variables, notes }) + configText(servers.map(({ name, server }) => ({ name, server, comment: "" })));
    for (const secret of ["ghp_abc", "hunter2", "sk_live", "lin_api", "top-secret-value"]) expect(all).not.toContain(secret);
    const named = new Map(variables.map(({ name, why }) => [name, why]));
    expect([...named.keys()].sort()).toEqual(["API_KEY", "DOCS_TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN", "GITHUB_TOKEN", "GITHUB_X_MCP_TOOLSETS", "LINEAR_AUTHORIZATION", "LOCAL_TOKEN", "MY_API_TOKEN", "PERPLEXITY_KEY", "POSTGRES_URL", "SOME_KEY", "SOME_REGION", "STRIPE_TOKEN"]);
    expect(named.get("GITHUB_PERSONAL_ACCESS_TOKEN")).toBe(`env GITHUB_PERSONAL_ACCESS_TOKEN of "github-old" in ${join(host.home, desktop)}`);
    expect(named.get("PERPLEXITY_KEY")).toContain("Perplexity API Key");
    expect(named.get("SOME_KEY")).toContain("some.env");
  });

  test("one server in several clients is one, another of the same name keeps both, and the gate itself is none", () => {
    const same = `{ "command": "npx", "args": ["-y", "thing"] }`;
    const { servers } = findClientServers(
      machine({
        [desktop]: `{ "mcpServers": { "thing": ${same}, "callgate": { "command": "npx", "args": ["-y", "callgate@0.1.0", "mcp"] }, "gate": { "command": "/usr/bin/node", "args": ["/opt/callgate/bin/callgate.mjs", "mcp", "--config", "x"] } } }`,
        ".cursor/mcp.json": `{ "mcpServers": { "thing": ${same}, "a-b": { "command": "x" } } }`,
        ".config/Code/User/mcp.json": `{ "servers": { "thing": { "type": "stdio", "command": "other" }, "a.b": { "command": "y" } } }`,
      }),
    );
    expect(servers.map(({ name, from }) => [name, from.map(({ client }) => client)])).toEqual([
      ["thing", ["claude-desktop", "cursor"]],
      ["a-b", ["cursor"]],
      ["thing-vscode", ["vscode"]],
      ["a.b-vscode", ["vscode"]],
    ]);
  });

  test("two values under one name get two variables, and what this shell means by a name stays that", () => {
    const server = (token: string) => `{ "command": "x", "args": ["${token}"], "env": { "API_TOKEN": "${token}", "EDITOR_TOKEN": "literal" } }`;
    const host = machine({ [desktop]: `{ "mcpServers": { "one": ${server("first")}, "two": ${server("second")} } }` }, { EDITOR_TOKEN: "something else", ONE_EDITOR_TOKEN: "literal" });
    const { servers, variables } = findClientServers(host);
    expect(servers.map(({ server: { env } }) => env)).toEqual([
      { API_TOKEN: "env:API_TOKEN", EDITOR_TOKEN: "env:ONE_EDITOR_TOKEN" },
      { API_TOKEN: "env:TWO_API_TOKEN", EDITOR_TOKEN: "env:TWO_EDITOR_TOKEN" },
    ]);
    expect(variables.find(({ name }) => name === "ONE_EDITOR_TOKEN")?.isSet).toBe(true);
  });

  test("a file that cannot be read, and a server that is none, are told and cost the others nothing", () => {
    const { servers, notes } = findClientServers(
      machine({
        [desktop]: `{ "mcpServers": { "good": { "command": "x" }, "bad": { "command": 7 }, "empty": {}, "both": { "command": "x", "url": "https://x.example" } } }`,
        ".cursor/mcp.json": `{ "mcpServers": `,
        ".codex/config.toml": `= nonsense`,
        ".config/Code/User/mcp.json": ``,
      }),
    );
    expect(servers.map(({ name }) => name)).toEqual(["good"]);
    expect(notes).toHaveLength(5);
    expect(notes.join("\n")).toMatch(/cursor.*cannot be read[\s\S]*config.toml cannot be read|config.toml cannot be read[\s\S]*cursor.*cannot be read/);
  });

  test("a server whose text for a shell may hold a secret is left out, and said why without it", () => {
    const { servers, notes } = findClientServers(machine({ [desktop]: `{ "mcpServers": { "bashy": { "command": "sh", "args": ["-c", "API_KEY=SECRETFFF1234567 exec srv --pw SECRETGGG"] }, "good": { "command": "x" } } }` }));
    expect(servers.map(({ name }) => name)).toEqual(["good"]);
    expect(notes).toEqual([expect.stringMatching(/"bashy".*API_KEY=….*left out.*into its env/)]);
    expect(notes.join("")).not.toContain("SECRET");
  });

  test("what means nothing here, a name that nothing can have and a file that holds a list are told", () => {
    const { servers, notes } = findClientServers(machine({ [desktop]: "[]", ".cursor/mcp.json": `{ "mcpServers": { "__proto__": { "command": "x" }, "a": { "command": "x", "trust": true, "dev": {} } } }`, ".gemini/settings.json": `{ "mcpServers": [] }` }));
    expect(servers.map(({ name }) => name)).toEqual(["a"]);
    expect(notes.join("\n")).toMatch(/it holds a list[\s\S]*"__proto__" was left out[\s\S]*of the server "a" trust, dev mean nothing here and were not taken over[\s\S]*mcpServers is no object/);
  });

  test.each([
    ["darwin", {}, "/h/Library/Application Support/Claude/claude_desktop_config.json", "/h/Library/Application Support/Code/User/mcp.json"],
    ["linux", {}, "/h/.config/Claude/claude_desktop_config.json", "/h/.config/Code/User/mcp.json"],
    ["linux", { XDG_CONFIG_HOME: "/x" }, "/x/Claude/claude_desktop_config.json", "/x/Code/User/mcp.json"],
  ] as const)("files are where %s has them %j", (platform, env, claude, code) => {
    const files = clientFiles({ platform, env, home: "/h", folder: "/p" }).map(({ file }) => file);
    expect(files).toContain(claude);
    expect(files).toContain(code);
    expect(files).toContain("/p/.vscode/mcp.json");
  });

  test("files are where Windows has them", () => {
    const files = clientFiles({ platform: "win32", env: { APPDATA: "C:\\Users\\a\\AppData\\Roaming" }, home: "C:\\Users\\a", folder: "C:\\p" }).map(({ file }) => file);
    expect(files).toEqual(expect.arrayContaining(["C:\\Users\\a\\AppData\\Roaming\\Claude\\claude_desktop_config.json", "C:\\Users\\a\\AppData\\Roaming\\Code\\User\\mcp.json", "C:\\Users\\a\\.cursor\\mcp.json", "C:\\p\\.mcp.json"]));
  });
});
