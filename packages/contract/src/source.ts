import type { ArtifactInput } from "./artifact.ts";
import type { JsonObject } from "./json.ts";
import type { ToolSettings } from "./source-options.ts";
import type { Label, Tool, ToolContext } from "./tool-spec.ts";

/** Where a source stands. What is wrong with it names what to do about it. */
export type SourceState =
  | { readonly kind: "connecting" }
  /** Not connected: its tools are known from before, and it is connected at the first call. */
  | { readonly kind: "idle" }
  | { readonly kind: "ready" }
  | { readonly kind: "degraded"; readonly reason: string }
  /** `retryAfterMs` as of `down`: somebody may have signed in meanwhile. */
  | { readonly kind: "auth_needed"; readonly reason: string; readonly retryAfterMs?: number }
  /** `brief`: what of the reason may be told to a model, a clause without paths. `retryAfterMs`: from when on, counted from the failure, a use tries again. Absent: no use does before somebody mends it. */
  | { readonly kind: "down"; readonly reason: string; readonly brief?: string; readonly retryAfterMs?: number };

/** Something wrong with one tool or part of a source; the rest works. */
export interface SourceProblem {
  /** The tool's name where it has one. */
  readonly tool?: string;
  readonly message: string;
}

/** A tool as its source lists it. Its `handler` runs it on the source; only the broker calls that. */
export interface SourceTool {
  readonly tool: Tool;
  /**
   * True when effect and labels are claims of a party that was not trusted yet; the gate then counts the effect as
   * `write` until the user trusts or overrides it.
   */
  readonly claimed: boolean;
  /** What the user says of it (`SourceOptions`). Put there by `shapeSource`, never by a source. */
  readonly settings?: ToolSettings;
}

export interface SourceListing {
  readonly tools: readonly SourceTool[];
  readonly problems: readonly SourceProblem[];
}

/** A resource or prompt that passes through the gate unchanged. */
export interface SourceResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
}
export interface SourceResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
}
export interface SourceResourceContent {
  readonly uri: string;
  readonly mimeType?: string;
  readonly content: { readonly kind: "text"; readonly text: string } | { readonly kind: "bytes"; readonly bytes: Uint8Array };
}
export interface SourcePrompt {
  readonly name: string;
  readonly description?: string;
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[];
}
export interface SourcePromptMessage {
  readonly role: "user" | "assistant";
  /** MCP content block, passed through as it came. */
  readonly content: unknown;
}

/** From the least important on, as in MCP. */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** What a source says by itself. */
export type SourceNotice =
  /** `data` is the source's own words. */
  | { readonly kind: "log"; readonly level: LogLevel; readonly logger?: string; readonly data: unknown }
  | { readonly kind: "resource-updated"; readonly uri: string };

/** Resources and prompts of a source that has them. Every method may throw `CallgateError` SOURCE_FAILED. */
export interface SourcePassThrough {
  /** Of everything that it answers. Default: none. */
  readonly labels?: readonly Label[];
  /** Definitions of its tools in the form of its own protocol, for clients that are to see them unchanged. Absent: it has no such form. */
  listTools?(signal: AbortSignal): Promise<readonly JsonObject[]>;
  listResources(signal: AbortSignal): Promise<readonly SourceResource[]>;
  listResourceTemplates(signal: AbortSignal): Promise<readonly SourceResourceTemplate[]>;
  readResource(uri: string, signal: AbortSignal): Promise<readonly SourceResourceContent[]>;
  listPrompts(signal: AbortSignal): Promise<readonly SourcePrompt[]>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly SourcePromptMessage[]>;
  /** What it says by itself. Absent: it says nothing. */
  readonly notices?: SourceNotices;
}

/** Notices of a source, and what it is asked to tell of. Every method that asks may throw `CallgateError` SOURCE_FAILED. */
export interface SourceNotices {
  /** Until the returned function is called. Nothing is started for it. The listener must not throw. */
  listen(listener: (notice: SourceNotice) => void): () => void;
  /** Changes of this resource are told from now on, over restarts too. */
  subscribe(uri: string, signal: AbortSignal): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** Log messages of this level and above are told from now on. */
  setLogLevel(level: LogLevel, signal: AbortSignal): Promise<void>;
}

const RETURN_BRAND = Symbol.for("callgate.source-return");

/**
 * What a source (or a handler) returns instead of a bare value when it also has files or pictures, or when it turned out
 * that a call which might have changed something changed nothing.
 *
 * A class with a brand, so that a tool's own `{ value, artifacts }` object is never mistaken for it.
 */
export class SourceReturn {
  readonly value: unknown;
  readonly artifacts: readonly ArtifactInput[];
  /** Known for certain, as `notApplied` of a `ToolError` is. */
  readonly notApplied: boolean;

  constructor(value: unknown, artifacts: readonly ArtifactInput[], { notApplied = false }: { readonly notApplied?: boolean } = {}) {
    this.value = value;
    this.artifacts = artifacts;
    this.notApplied = notApplied;
    Object.defineProperty(this, RETURN_BRAND, { value: true });
  }

  /** True for a `SourceReturn` from any copy of this package in the process. */
  static is(value: unknown): value is SourceReturn {
    return typeof value === "object" && value !== null && RETURN_BRAND in value;
  }
}

/**
 * Where tools come from. One bad source never hurts another.
 *
 * - `list` may be called any number of times, also at once; it connects if needed, follows every page, and reports a
 *   malformed tool in `problems` instead of failing. It throws `CallgateError` SOURCE_FAILED when nothing can be listed.
 * - `call` runs one tool by the name it listed. It throws `ToolError` for what the tool or the connection did wrong
 *   (SOURCE_UNAVAILABLE when the peer is gone), and stops when `context.signal` aborts.
 * - `onChange` registers one listener, called whenever tools or state may have changed; it must not throw.
 * - `close` is idempotent, ends every process and connection the source started, and makes calls under way fail.
 */
export interface Source {
  /** The namespace its tools live in, before the naming rule. */
  readonly namespace: string;
  /** `functions`, `folder`, `mcp`, ... */
  readonly kind: string;
  /** One line on what is behind it, for the model. */
  readonly purpose?: string | undefined;
  readonly state: SourceState;
  list(signal: AbortSignal): Promise<SourceListing>;
  call(name: string, args: unknown, context: ToolContext): Promise<unknown>;
  onChange(listener: () => void): void;
  close(): Promise<void>;
  readonly passThrough?: SourcePassThrough;
}
