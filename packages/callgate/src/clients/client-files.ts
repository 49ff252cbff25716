import { posix, win32 } from "node:path";

/** The MCP clients whose configuration files are known. */
export const clientIds = ["claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "codex", "gemini"] as const;

export type ClientId = (typeof clientIds)[number];

/** What people call them. */
export const clientNames: Readonly<Record<ClientId, string>> = {
  "claude-desktop": "Claude Desktop",
  "claude-code": "Claude Code",
  cursor: "Cursor",
  vscode: "VS Code",
  windsurf: "Windsurf",
  codex: "Codex CLI",
  gemini: "Gemini CLI",
};

/** A file in which a client keeps MCP servers. It need not be there. */
export interface ClientFile {
  readonly client: ClientId;
  readonly file: string;
  /** `user`: of this user, in every folder. `project`: beside the code of one folder, and so perhaps written by somebody else. */
  readonly scope: "user" | "project";
  readonly format: "jsonc" | "toml";
  /** The keys that lead to the record of servers. */
  readonly path: readonly string[];
  /** False where the client still reads it and writes another. */
  readonly isWritten: boolean;
}

/** Where the files of clients are looked for. */
export interface ClientHost {
  readonly platform: NodeJS.Platform;
  /** Of the user. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project. */
  readonly folder: string;
}

/** Every file that a client reads on this system, those of a user before those of the project. */
export function clientFiles(host: ClientHost): readonly ClientFile[] {
  const paths = pathsOf(host);
  const { home, env, folder } = host;
  const apps = applicationFolder(host);
  const claudeCode = paths.join(env["CLAUDE_CONFIG_DIR"] ?? home, ".claude.json");
  const user = (client: ClientId, file: string, more: Partial<ClientFile> = {}): ClientFile => ({ client, file, scope: "user", format: "jsonc", path: ["mcpServers"], isWritten: true, ...more });
  const project = (client: ClientId, name: readonly string[], more: Partial<ClientFile> = {}): ClientFile => ({ ...user(client, paths.join(folder, ...name), more), scope: "project" });
  const servers = { path: ["servers"] };
  const older = { path: ["mcp", "servers"], isWritten: false };
  const toml = { format: "toml" as const, path: ["mcp_servers"] };
  return [
    user("claude-desktop", paths.join(apps, "Claude", "claude_desktop_config.json")),
    user("claude-code", claudeCode),
    // The scope that `claude mcp add` calls local: of this user, in this folder.
    user("claude-code", claudeCode, { path: ["projects", folder, "mcpServers"], isWritten: false }),
    user("cursor", paths.join(home, ".cursor", "mcp.json")),
    user("vscode", paths.join(apps, "Code", "User", "mcp.json"), servers),
    user("vscode", paths.join(apps, "Code", "User", "settings.json"), older),
    user("vscode", paths.join(apps, "Code - Insiders", "User", "mcp.json"), { ...servers, isWritten: false }),
    user("windsurf", paths.join(home, ".codeium", "windsurf", "mcp_config.json")),
    user("codex", paths.join(env["CODEX_HOME"] ?? paths.join(home, ".codex"), "config.toml"), toml),
    user("gemini", paths.join(home, ".gemini", "settings.json")),
    project("claude-code", [".mcp.json"]),
    project("cursor", [".cursor", "mcp.json"]),
    project("vscode", [".vscode", "mcp.json"], servers),
    project("vscode", [".vscode", "settings.json"], older),
    project("codex", [".codex", "config.toml"], toml),
    project("gemini", [".gemini", "settings.json"]),
  ];
}

/** Of the system that is meant, which in a test is not the one it runs on. */
export function pathsOf({ platform }: Pick<ClientHost, "platform">): typeof posix {
  return platform === "win32" ? win32 : posix;
}

/** Where applications with windows keep their settings. */
function applicationFolder(host: ClientHost): string {
  const paths = pathsOf(host);
  if (host.platform === "darwin") return paths.join(host.home, "Library", "Application Support");
  if (host.platform === "win32") return host.env["APPDATA"] ?? paths.join(host.home, "AppData", "Roaming");
  return host.env["XDG_CONFIG_HOME"] ?? paths.join(host.home, ".config");
}
