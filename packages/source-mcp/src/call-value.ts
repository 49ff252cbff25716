import type { ArtifactInput, JsonObject } from "@callgate/contract";
import { parseLosslessJson, ToolError } from "@callgate/contract";
import { firstString, isRecord } from "./is-record.ts";
import type { ResultBody } from "./result-body.ts";

/** What a program gets of one MCP answer. */
export interface CallValue {
  readonly value: unknown;
  readonly artifacts: readonly ArtifactInput[];
}

/**
 * The value of an MCP result, by one rule:
 *
 * 1. `structuredContent`, where the server sent it; the text beside it says the same again and is dropped
 * 2. else, where the answer is a single text block: the JSON object or array it parses as, or the text
 * 3. else `{ content }`: the blocks, in which pictures, sounds and binary resources are named artifacts
 *
 * Bytes never enter the value: they are artifacts. Resource links are data and are never fetched (security mcp-010).
 */
export function readCallValue(body: ResultBody, tool: string): CallValue {
  const blocks = Array.isArray(body["content"]) ? (body["content"] as readonly unknown[]) : [];
  const structured = body["structuredContent"];
  const { content, artifacts } = splitBlocks(blocks, tool, structured !== undefined);
  if (structured !== undefined) return { value: structured, artifacts };
  const [only] = blocks;
  if (blocks.length === 1 && isRecord(only) && only["type"] === "text" && typeof only["text"] === "string") {
    return { value: parseIfContainer(only["text"]), artifacts };
  }
  return { value: { content }, artifacts };
}

/**
 * The whole answer as the value, for a gate that hands it on unchanged. Bytes are artifacts, named by `artifact` in the
 * block they were in; everything else is as it came.
 */
export function readWholeAnswer(body: ResultBody, tool: string): CallValue {
  const artifacts: ArtifactInput[] = [];
  const blocks = Array.isArray(body["content"]) ? (body["content"] as readonly unknown[]) : [];
  const content = blocks.map((block) => {
    const found = isRecord(block) ? artifactOf(block, `${fileStem(tool)}-${artifacts.length + 1}`, false) : undefined;
    if (found === undefined || !isRecord(block)) return block;
    artifacts.push(found.artifact);
    const { data: _data, resource, ...rest } = block;
    const { blob: _blob, ...described } = isRecord(resource) ? resource : {};
    return { ...rest, ...(resource === undefined ? {} : { resource: described }), artifact: artifacts.length - 1 };
  });
  const { resultType: _resultType, ttlMs: _ttlMs, cacheScope: _cacheScope, ...answer } = body;
  return { value: { ...answer, content }, artifacts };
}

/** JSON objects and arrays only: a text of `42` or `true` is a text. */
function parseIfContainer(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return parseLosslessJson(text);
  } catch {
    return text;
  }
}

function splitBlocks(blocks: readonly unknown[], tool: string, linksToo: boolean): { readonly content: readonly unknown[]; readonly artifacts: readonly ArtifactInput[] } {
  const artifacts: ArtifactInput[] = [];
  const content = blocks.map((block) => {
    const found = isRecord(block) ? artifactOf(block, `${fileStem(tool)}-${artifacts.length + 1}`, linksToo) : undefined;
    if (found === undefined) return withoutNotes(block);
    artifacts.push(found.artifact);
    return found.reference;
  });
  return { content, artifacts };
}

/** `annotations` and `_meta` of a block are for clients, not for programs. */
function withoutNotes(block: unknown): unknown {
  if (!isRecord(block)) return block;
  const { annotations: _annotations, _meta: _blockMeta, ...rest } = block;
  return rest;
}

interface FoundArtifact {
  readonly artifact: ArtifactInput;
  readonly reference: JsonObject;
}

function artifactOf(block: ResultBody, stem: string, linksToo: boolean): FoundArtifact | undefined {
  const { type } = block;
  if ((type === "image" || type === "audio") && typeof block["data"] === "string") {
    const mimeType = firstString(block["mimeType"]) ?? "application/octet-stream";
    return found(type, { name: `${stem}.${extensionOf(mimeType)}`, mimeType, bytes: fromBase64(block["data"]) });
  }
  const resource = block["resource"];
  if (type === "resource" && isRecord(resource) && typeof resource["blob"] === "string") {
    const mimeType = firstString(resource["mimeType"]) ?? "application/octet-stream";
    const uri = firstString(resource["uri"]) ?? "";
    const name = fileStem(uri.split(/[?#]/, 1)[0]?.split("/").at(-1) ?? "");
    const made = found("resource", { name: name === "" || name === "tool" ? `${stem}.${extensionOf(mimeType)}` : name, mimeType, bytes: fromBase64(resource["blob"]) });
    return { ...made, reference: { ...made.reference, uri } };
  }
  const uri = block["uri"];
  // Beside structured content the blocks are dropped; a link would be lost with them.
  if (linksToo && type === "resource_link" && typeof uri === "string") {
    return found("resource_link", { name: `${fileStem(firstString(block["name"]) ?? stem)}.uri`, mimeType: "text/uri-list", bytes: Buffer.from(`${uri}\r\n`) });
  }
  return undefined;
}

function found(type: string, artifact: ArtifactInput): FoundArtifact {
  return { artifact, reference: { type, artifact: artifact.name, mimeType: artifact.mimeType, sizeBytes: artifact.bytes.length } };
}

/** A file name without folders or control characters, at most 80 characters. */
function fileStem(name: string): string {
  return name.replace(/[^\w.-]+/g, "_").replace(/^\.+/, "").slice(0, 80) || "tool";
}

const extensions: Readonly<Record<string, string>> = { "image/jpeg": "jpg", "image/svg+xml": "svg", "audio/mpeg": "mp3", "text/plain": "txt", "application/octet-stream": "bin" };

function extensionOf(mimeType: string): string {
  const known = Object.hasOwn(extensions, mimeType) ? extensions[mimeType] : undefined;
  return known ?? (/\/([a-z0-9]{1,8})(?:$|;)/i.exec(mimeType)?.[1]?.toLowerCase() ?? "bin");
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}

/** Characters of an upstream's own words that are passed on in an error. */
const MESSAGE_CHARS = 2_000;

/**
 * The error behind `isError: true`. Its code is the server's own where the structured content (or JSON text) names one
 * in `code` or `error.code`, else TOOL_FAILED. MCP has no word for "nothing was changed", so the effect stays unknown.
 */
export function readCallError(body: ResultBody, tool: string): ToolError {
  const { value } = readCallValue(body, tool);
  const facts = isRecord(value) ? (isRecord(value["error"]) ? value["error"] : value) : {};
  const code = facts["code"];
  const ownCode = typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined;
  const text = textOf(body) ?? (typeof value === "string" ? value : undefined);
  const message = firstString(facts["message"], text) ?? "The tool reported an error without a message";
  return new ToolError({
    code: ownCode ?? "TOOL_FAILED",
    message: message.length > MESSAGE_CHARS ? `${message.slice(0, MESSAGE_CHARS)}… (${message.length} characters)` : message,
    retryable: facts["retryable"] === true,
  });
}

function textOf(body: ResultBody): string | undefined {
  const blocks = Array.isArray(body["content"]) ? (body["content"] as readonly unknown[]) : [];
  const texts = blocks.flatMap((block) => (isRecord(block) && block["type"] === "text" && typeof block["text"] === "string" ? [block["text"]] : []));
  return texts.length === 0 ? undefined : texts.join("\n");
}
