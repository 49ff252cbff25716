import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, Effect, Source } from "@callgate/contract";
import type { OAuthStore } from "@callgate/source-mcp";
import { graphqlSchema, openapiSchema } from "../config/service-schema.ts";
import { mcpServerSchema } from "../config/mcp-server-schema.ts";
import { sqlSchema } from "../config/sql-schema.ts";
import { mcpSources } from "../mcp-sources.ts";
import { sqlSources } from "../sql-sources.ts";
import type { AddedEntry } from "./added-entry.ts";

/** What a source said when it was asked. */
export type Probe =
  | {
      readonly kind: "found";
      /** By what they do, as the source says itself. */
      readonly effects: Readonly<Record<Effect, number>>;
      readonly tools: readonly string[];
      /** Whether the effects are its own word, which counts for nothing before somebody trusts it. */
      readonly claimed: boolean;
      readonly purpose?: string;
      /** What of it does not work. */
      readonly problems: readonly string[];
    }
  /** It is there, and wants somebody to sign in first. */
  | { readonly kind: "sign_in" }
  | { readonly kind: "failed"; readonly reason: string };

export interface ProbeHost {
  /** Of the configuration. */
  readonly folder: string;
  /** With the values of what the entry refers to. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Starts or reaches one source as it would be configured, lists its tools and ends it again. No tool is called, and nothing is kept of it. */
export async function probeSource(entry: AddedEntry, name: string, host: ProbeHost): Promise<Probe> {
  const stateFolder = await mkdtemp(join(tmpdir(), "callgate-add-"));
  let source: Source | undefined;
  try {
    source = await openSource(entry, name, { ...host, stateFolder });
    const { tools, problems } = await source.list(host.signal);
    const effects = { read: 0, write: 0, destructive: 0 };
    for (const { tool, settings } of tools) effects[settings?.effect ?? tool.effect] += 1;
    const { purpose } = source;
    return {
      kind: "found",
      effects,
      tools: tools.map(({ tool }) => tool.name),
      claimed: tools.some(({ claimed }) => claimed) && !("trusted" in entry.value),
      ...(purpose === undefined ? {} : { purpose }),
      problems: problems.map(({ tool, message }) => (tool === undefined ? message : `${tool}: ${message}`)),
    };
  } catch (error) {
    host.signal.throwIfAborted();
    if (source?.state.kind === "auth_needed" && entry.block === "mcpServers") return { kind: "sign_in" };
    return { kind: "failed", reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await source?.close();
    await rm(stateFolder, { recursive: true, force: true });
  }
}

/** What is only tried is neither pinned nor signed in to. */
const withoutRecord = {
  unpinned: () => {
    throw new Error("a source that is tried is not pinned");
  },
  noSignIn: (): OAuthStore => ({ read: () => Promise.resolve(undefined), write: () => Promise.resolve(), remove: () => Promise.resolve(), exclusively: (work) => work() }),
};

/** Errors: CONFIG_INVALID, and those of the schemas. */
async function openSource(entry: AddedEntry, name: string, host: ProbeHost & { readonly stateFolder: string }): Promise<Source> {
  const { folder, env, clock } = host;
  const made = await (async () => {
    switch (entry.block) {
      case "mcpServers": {
        const { unpinned, noSignIn } = withoutRecord;
        return mcpSources({ [name]: { ...mcpServerSchema.parse(entry.value), unsafeWithoutPins: true } }, { folder, env, clock, pinsOf: unpinned, signInsOf: noSignIn, isEager: true });
      }
      case "openapi":
        return (await import("../openapi-sources.ts")).openapiSources({ [name]: openapiSchema.parse(entry.value) }, host);
      case "graphql":
        return (await import("../graphql-sources.ts")).graphqlSources({ [name]: graphqlSchema.parse(entry.value) }, host);
      case "sql":
        return await sqlSources({ [name]: sqlSchema.parse(entry.value) }, { folder, env });
    }
  })();
  const [only] = made.sources;
  if (only === undefined) throw new Error("nothing was made of it");
  return only.source;
}
