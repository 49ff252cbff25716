import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { CallgateError, ToolError } from "@callgate/contract";
import type { Source, SourceListing, SourceProblem, SourceState, ToolContext } from "@callgate/contract";
import { listDocuments, readDocumentPage, searchDocuments } from "./answer-call.ts";
import type { OpenFolder } from "./answer-call.ts";
import { documentTools } from "./document-tools.ts";
import type { DocumentToolName } from "./document-tools.ts";
import { documentDefaults } from "./documents-options.ts";
import type { DocumentsSourceOptions, TableDocumentsOptions } from "./documents-options.ts";
import { createDocumentFolder } from "./folder/document-folder.ts";
import type { DocumentFolder } from "./folder/document-folder.ts";
import { folderRules } from "./folder/folder-rules.ts";
import { createDocumentIndex } from "./index/document-index.ts";
import type { DocumentIndex } from "./index/document-index.ts";
import { createDocumentReader } from "./reader/document-reader.ts";
import type { DocumentReader } from "./reader/document-reader.ts";
import { createDocumentTable } from "./table/document-table.ts";

type Settings = DocumentsSourceOptions & Record<keyof typeof documentDefaults, number>;

/** How many problems are told one by one. */
const toldProblems = 20;
/** Beside waiting for files: the search itself. */
const marginMs = 60_000;

/**
 * Makes a folder of documents (Markdown, text, HTML, PDF, Word, tables of values) a source of tools that search, read and list
 * them. Nothing is opened before the first use. The index follows the folder: at each use what has changed is read anew, in a
 * thread that is bounded in time and memory, so that a hostile file is one problem and hurts no other.
 *
 * Errors: `CallgateError` CONFIG_INVALID for a pattern that leads out of the folder.
 */
export function createDocumentsSource(options: DocumentsSourceOptions): Source {
  const { readTimeoutMs, readMemoryMiB } = settingsOf(options);
  return documentsSourceWith(options, createDocumentReader({ timeoutMs: readTimeoutMs, memoryMiB: readMemoryMiB }));
}

/** @param reader is closed with the source */
export function documentsSourceWith(options: DocumentsSourceOptions, reader: DocumentReader): Source {
  const settings = settingsOf(options);
  const rules = folderRules(settings);
  return sourceOf({
    ...settings,
    indexFile: indexFile(settings),
    place: settings.folder,
    brief: "its folder or its index cannot be read",
    open: (index) => createDocumentFolder({ folder: settings.folder, rules, bounds: settings, index, reader }),
    closeUnopened: () => reader.close(),
  });
}

/**
 * Makes the rows of a table a source of the same tools: each row is a document. Nothing is read before the first use. All rows are
 * read again at a use, not oftener than every `refreshMs`, and those whose text has changed are taken into the index anew.
 */
export function createTableDocumentsSource(options: TableDocumentsOptions): Source {
  const { namespace, purpose, rows, cacheFolder, cacheKey } = options;
  const { waitMs, maxFiles, maxTextChars } = { ...documentDefaults, ...definedOnly(options) };
  const { refreshMs = 60_000 } = options;
  return sourceOf({
    namespace,
    purpose,
    waitMs,
    indexFile: cacheFolder === undefined ? undefined : join(cacheFolder, `${createHash("sha256").update(JSON.stringify(["table", cacheKey, maxTextChars])).digest("hex").slice(0, 16)}.db`),
    place: rows.label,
    brief: "its table or its index cannot be read",
    open: (index) => createDocumentTable({ rows, maxRows: maxFiles, maxTextChars, refreshMs, index }),
    closeUnopened: () => rows.close(),
  });
}

/** What is behind the tools: documents that are followed, and their index. */
interface DocumentPlace {
  readonly namespace: string;
  readonly purpose?: string | undefined;
  readonly waitMs: number;
  readonly indexFile: string | undefined;
  /** Named where it cannot be used. */
  readonly place: string;
  /** The same in a clause, for callers. */
  readonly brief: string;
  open(index: () => DocumentIndex): DocumentFolder;
  /** Where it was never opened. */
  closeUnopened(): Promise<void>;
}

function sourceOf(settings: DocumentPlace): Source {
  const { namespace, waitMs, brief } = settings;
  const life = createLife(settings);
  let purpose: string | undefined;
  const call = (name: DocumentToolName, args: unknown, { signal }: ToolContext): Promise<unknown> => life.use((parts) => answers[name](parts, args ?? {}, signal), signal);
  return {
    namespace,
    kind: "documents",
    get purpose() {
      return settings.purpose ?? purpose;
    },
    get state() {
      return life.state;
    },
    async list(signal): Promise<SourceListing> {
      try {
        const problems = await life.use(async (parts) => {
          await parts.folder.follow(waitMs, signal);
          purpose = purposeOf(parts);
          return life.tell(parts);
        }, signal);
        return { tools: documentTools(waitMs + marginMs, call), problems };
      } catch (fault) {
        signal.throwIfAborted();
        const reason = life.state.kind === "down" ? life.state.reason : String(fault);
        throw new CallgateError("SOURCE_FAILED", `The documents of "${namespace}" cannot be used: ${reason}`, { cause: fault, details: { namespace, brief } });
      }
    },
    async call(name, args, context) {
      context.signal.throwIfAborted();
      if (!isToolName(name)) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `No tool "${name}" in "${namespace}"`, notApplied: true });
      return await call(name, args, context);
    },
    onChange: (fire) => life.onChange(fire),
    close: () => life.close(),
  };
}

/** From the first use to the end. */
interface Life {
  readonly state: SourceState;
  /** Runs what looks at the folder, and keeps the state. Throws `ToolError`, and the signal's reason. */
  use<Value>(work: (parts: OpenFolder) => Promise<Value>, signal: AbortSignal): Promise<Value>;
  /** The problems there are; when they change later the listener is called. */
  tell(parts: OpenFolder): readonly SourceProblem[];
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

function createLife(settings: DocumentPlace): Life {
  const { namespace, waitMs, brief } = settings;
  let opened: OpenFolder | undefined;
  let state: SourceState = { kind: "connecting" };
  let isClosed = false;
  let listener = (): void => undefined;
  let told: string | undefined;
  const setState = (next: SourceState): void => {
    const isNew = JSON.stringify(next) !== JSON.stringify(state);
    if (isClosed) return;
    state = next;
    if (isNew) listener();
  };
  const open = (): OpenFolder => {
    if (opened !== undefined) return opened;
    const index = createDocumentIndex(settings.indexFile);
    const parts: OpenFolder = { index, waitMs, folder: settings.open(() => index) };
    parts.folder.onSettled(() => {
      if (!isClosed && told !== undefined && told !== JSON.stringify(problemsOf(parts))) listener();
    });
    return (opened = parts);
  };
  return {
    get state() {
      return state;
    },
    async use(work, signal) {
      if (isClosed) throw closed(namespace);
      try {
        const value = await work(open());
        setState({ kind: "ready" });
        return value;
      } catch (fault) {
        if (ToolError.is(fault) || signal.aborted) throw fault;
        if (isClosed) throw closed(namespace);
        setState({ kind: "down", reason: `${settings.place} or its index cannot be used: ${fault instanceof Error ? fault.message : String(fault)}`, brief, retryAfterMs });
        throw new ToolError({ code: "SOURCE_UNAVAILABLE", message: `${namespace} cannot be used: ${brief}`, retryable: true, notApplied: true, cause: fault });
      }
    },
    tell(parts) {
      const problems = problemsOf(parts);
      told = JSON.stringify(problems);
      return problems;
    },
    onChange: (fire) => void (listener = fire),
    async close() {
      isClosed = true;
      state = { kind: "down", reason: "closed" };
      const parts = opened;
      opened = undefined;
      await (parts === undefined ? settings.closeUnopened() : parts.folder.close());
      parts?.index.close();
    },
  };
}

const retryAfterMs = 1_000;
const answers = { search: searchDocuments, read: readDocumentPage, list: listDocuments } as const;

function isToolName(name: string): name is DocumentToolName {
  return Object.hasOwn(answers, name);
}

function closed(namespace: string): ToolError {
  return new ToolError({ code: "SOURCE_UNAVAILABLE", message: `${namespace} was closed`, notApplied: true });
}

function settingsOf(options: DocumentsSourceOptions): Settings {
  return { ...documentDefaults, ...definedOnly(options), folder: resolve(options.folder) };
}

function definedOnly<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}

/** Text is made by these settings: other ones have an index of their own. */
function indexFile({ cacheFolder, folder, maxFileBytes, maxTextChars, readTimeoutMs, readMemoryMiB, include, exclude }: Settings): string | undefined {
  if (cacheFolder === undefined) return undefined;
  const name = createHash("sha256").update(JSON.stringify([folder, maxFileBytes, maxTextChars, readTimeoutMs, readMemoryMiB, include, exclude])).digest("hex").slice(0, 16);
  return join(cacheFolder, `${name}.db`);
}

function purposeOf({ index }: OpenFolder): string {
  const count = index.known().length;
  return `${count} ${count === 1 ? "document" : "documents"}`;
}

function problemsOf({ folder, index }: OpenFolder): readonly SourceProblem[] {
  const ofFiles = index.known().flatMap(({ path, problem }) => (problem === undefined ? [] : [`${path}: ${problem}`]));
  const all = [...(index.damage === undefined ? [] : [index.damage]), ...folder.problems, ...ofFiles];
  const rest = all.length - toldProblems;
  const waiting = folder.waiting === 0 ? [] : [`${folder.waiting} ${folder.waiting === 1 ? "document is" : "documents are"} still being read`];
  return [...all.slice(0, toldProblems), ...(rest > 0 ? [`and ${rest} problems more; the tool list says which documents`] : []), ...waiting].map((message) => ({ message }));
}
