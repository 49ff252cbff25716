import type { WrittenServer } from "../clients/written-server.ts";

/** A server, and a line that says where it is from. */
export interface CommentedServer {
  readonly name: string;
  readonly server: WrittenServer;
  readonly comment: string;
}

const maxLineChars = 120;

/** A new configuration as a person would write it, with these servers. */
export function configText(servers: readonly CommentedServer[]): string {
  const block = servers.length === 0 ? "{}" : `{\n${servers.map(({ name, server, comment }) => `    // ${comment.replace(/\s+/g, " ")}\n    ${JSON.stringify(name)}: ${valueText(server, 4)}`).join(",\n")}\n  }`;
  return `{
  // MCP servers, as other clients write them. Example:
  // "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] }
  "mcpServers": ${block},

  // Who may call what. Without a rule, tools that only read are allowed and everything else asks;
  // where nobody can answer, it is denied. See docs/guide/policy.md.
  "rules": [
    // { "allow": "notes.add" }
  ]
}
`;
}

/** JSON in one line where it fits, else over several. @param indent of the line it begins in */
function valueText(value: unknown, indent: number): string {
  const line = lineOf(value);
  return line.length + indent <= maxLineChars ? line : JSON.stringify(value, undefined, 2).replaceAll("\n", `\n${" ".repeat(indent)}`);
}

function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const pairs = Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [`${JSON.stringify(key)}: ${lineOf(inner)}`]));
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}
