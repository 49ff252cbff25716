import { ToolError } from "@callgate/contract";
import { nearestNames } from "@callgate/runtime/catalog";
import { listedTogether, readLimit, searchLimit } from "./document-tools.ts";
import type { DocumentFolder } from "./folder/document-folder.ts";
import type { DocumentIndex } from "./index/document-index.ts";
import { splitsPair } from "./reader/split-passages.ts";

export interface OpenFolder {
  readonly folder: DocumentFolder;
  readonly index: DocumentIndex;
  readonly waitMs: number;
}

/** Arguments have been judged by the tools' schemas; a caller that comes past the gate gets the same bounds. */
export async function searchDocuments({ folder, index, waitMs }: OpenFolder, args: unknown, signal: AbortSignal): Promise<unknown> {
  const { query, limit, path } = args as { readonly query: string; readonly limit?: number; readonly path?: string };
  await folder.follow(waitMs, signal);
  const found = index.search(query, { limit: Math.min(limit ?? searchLimit.default, searchLimit.maximum), below: path === undefined ? undefined : withoutSlashes(path) });
  return {
    passages: found.map(({ path: document, title, heading, body, score, start }) => ({ document, title, ...(heading === undefined ? {} : { heading }), passage: body.trim(), score: Math.round(score * 1e6) / 1e6, offset: start + body.length - body.trimStart().length })),
    ...noteOf(folder),
  };
}

/** Throws `ToolError` DOCUMENT_NOT_FOUND, DOCUMENT_UNREADABLE. */
export async function readDocumentPage({ folder, index, waitMs }: OpenFolder, args: unknown, signal: AbortSignal): Promise<unknown> {
  const { document, offset = 0, limit = readLimit.default } = args as { readonly document: string; readonly offset?: number; readonly limit?: number };
  const path = withoutSlashes(document);
  await folder.followOne(path, signal);
  const known = index.find(path) ?? (await missing(path, { folder, index, waitMs }, signal));
  const { chars, title } = known;
  if (chars === 0 && known.problem !== undefined) throw new ToolError({ code: "DOCUMENT_UNREADABLE", message: `"${path}" cannot be read: ${known.problem}`, notApplied: true });
  const from = Math.min(offset, chars);
  const to = Math.min(from + Math.min(limit, readLimit.maximum), chars);
  // One more, to see whether the page would end within a character.
  const more = index.text(path, from, to + 1);
  const size = to - from > 1 && splitsPair(more, to - from) ? to - from - 1 : to - from;
  const text = more.slice(0, size);
  return { document: path, title, text, offset: from, next_offset: from + size < chars ? from + size : null, total_chars: chars };
}

export async function listDocuments({ folder, index, waitMs }: OpenFolder, args: unknown, signal: AbortSignal): Promise<unknown> {
  const { path, cursor } = args as { readonly path?: string; readonly cursor?: string | null };
  await folder.follow(waitMs, signal);
  const below = path === undefined ? undefined : withoutSlashes(path);
  const all = index.known().filter((known) => (below === undefined || below === "" || known.path === below || known.path.startsWith(`${below}/`)) && (cursor === undefined || cursor === null || known.path > cursor));
  const page = all.slice(0, listedTogether);
  return {
    documents: page.map(({ path: document, title, bytes, chars, modifiedMs, problem }) => ({ document, title, bytes, chars, modified: new Date(modifiedMs).toISOString(), ...(problem === undefined ? {} : { problem }) })),
    cursor: all.length > page.length ? (page.at(-1)?.path ?? null) : null,
    ...noteOf(folder),
  };
}

function noteOf({ waiting }: DocumentFolder): { readonly note?: string } {
  return waiting === 0 ? {} : { note: `${waiting} ${waiting === 1 ? "document is" : "documents are"} still being read; ask again for what they say` };
}

/** Only what has been read can have been meant. */
async function missing(path: string, { folder, index, waitMs }: OpenFolder, signal: AbortSignal): Promise<never> {
  await folder.follow(waitMs, signal);
  const nearest = nearestNames(path, index.known().map((document) => document.path));
  const meant = nearest.length === 0 ? "" : `; did you mean ${nearest.map((name) => `"${name}"`).join(" or ")}?`;
  throw new ToolError({ code: "DOCUMENT_NOT_FOUND", message: `There is no document "${path}"${meant}`, notApplied: true, details: { nearest } });
}

/** As people write folders: `./guide/`. It is only ever compared with what the index knows. */
function withoutSlashes(path: string): string {
  return path.replace(/^(?:\.?\/)+/, "").replace(/\/{1,100}$/, "");
}
