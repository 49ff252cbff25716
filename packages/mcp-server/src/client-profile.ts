import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { CLIENT_INFO_META_KEY } from "@modelcontextprotocol/server";

/** What is known about the client behind one request. */
export interface ClientProfile {
  /** `name/version` as the client says it; untrusted, for records and display. */
  readonly agent: string | undefined;
  /**
   * `both`: structured content plus the same as text, each complete, because clients show their model one or the other.
   * `text`: text only, for clients that know no structured content or would put both before their model.
   */
  readonly form: "both" | "text";
}

/** Protocol revisions before this one have no structured content. */
const STRUCTURED_SINCE = "2025-06-18";
/** Clients known to hand structured content *and* text to the model, which doubles every result. */
const FORWARDS_BOTH = /^codex/i;

/** Reads the profile from the request (newer era) or from what the connection said at its start. */
export function clientProfile(server: Server, context: ServerContext): ClientProfile {
  const said = implementation((context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_INFO_META_KEY]) ?? server.getClientVersion();
  const agent = said === undefined ? undefined : `${said.name}/${said.version}`.slice(0, 100);
  const version = server.getNegotiatedProtocolVersion();
  const old = version !== undefined && version < STRUCTURED_SINCE;
  return { agent, form: old || FORWARDS_BOTH.test(said?.name ?? "") ? "text" : "both" };
}

function implementation(value: unknown): { readonly name: string; readonly version: string } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, version } = value as { name?: unknown; version?: unknown };
  return typeof name === "string" && typeof version === "string" ? { name, version } : undefined;
}
