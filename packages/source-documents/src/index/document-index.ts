import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Passage } from "../reader/split-passages.ts";
import { isDamage, openIndex, putAside } from "./index-file.ts";
import { matchExpression, spacedText } from "./search-words.ts";

/** What the index knows of a file. */
export interface KnownDocument {
  /** Within the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  /** SHA-256 of its bytes, hex. */
  readonly digest: string;
  readonly title: string;
  /** Characters (UTF-16) of its text; 0 where it has none. */
  readonly chars: number;
  /** Why it cannot be read, or not all of it. */
  readonly problem: string | undefined;
}

export interface FoundPassage extends Omit<Passage, "heading"> {
  readonly path: string;
  readonly title: string;
  readonly heading: string | undefined;
  /** BM25; higher fits better. Comparable within one answer only. */
  readonly score: number;
}

/** The words of documents, kept on disk. */
export interface DocumentIndex {
  /** All documents that are in it as a whole, by path in ascending order. */
  known(): readonly KnownDocument[];
  find(path: string): KnownDocument | undefined;
  /** Takes a document in, in place of the one of this path. Long ones are written in pieces, between which others have their turn. */
  replace(document: KnownDocument, passages: readonly Passage[]): Promise<void>;
  /** The bytes are those it knows; only the file's time has changed. */
  touch(path: string, modifiedMs: number): void;
  remove(path: string): void;
  /** @param below a document, or a folder whose documents are meant */
  search(query: string, options: { readonly limit: number; readonly below?: string | undefined }): readonly FoundPassage[];
  /** Text of a document from a character on, up to another. */
  text(path: string, from: number, to: number): string;
  /** What happened to the index itself, for people. */
  readonly damage: string | undefined;
  close(): void;
}

/** Passages that are written at once: some milliseconds of work. */
const batchRows = 100;

/** Throws what the file system and SQLite throw; an index that turns out to be damaged is put aside and begun anew. */
export function createDocumentIndex(file: string | undefined): DocumentIndex {
  const opened = openIndex(file);
  let { database } = opened;
  let damage = opened.keptAside === undefined ? undefined : damageText(opened.keptAside);
  const guarded = <Value>(work: (database: DatabaseSync) => Value): Value => {
    try {
      return work(database);
    } catch (fault) {
      if (file === undefined || !isDamage(fault)) throw fault;
      database.close();
      damage = damageText(putAside(file));
      database = openIndex(file).database;
      return work(database);
    }
  };
  return {
    get damage() {
      return damage;
    },
    known: () => guarded((db) => db.prepare("select * from documents where is_whole = 1 order by path").all().map(knownOf)),
    find: (path) => guarded((db) => db.prepare("select * from documents where path = ? and is_whole = 1").all(path).map(knownOf)[0]),
    async replace(document, passages) {
      const id = guarded((db) => begin(db, document));
      for (let from = 0; from < passages.length; from += batchRows) {
        guarded((db) => addPassages(db, { id, title: document.title }, passages.slice(from, from + batchRows)));
        await nextTurn();
      }
      guarded((db) => finish(db, id));
    },
    touch: (path, modifiedMs) => void guarded((db) => db.prepare("update documents set modified_ms = ? where path = ?").run(modifiedMs, path)),
    remove: (path) => guarded((db) => inTransaction(db, () => removeDocument(db, path))),
    search: (query, options) => guarded((db) => searchIn(db, query, options)),
    text: (path, from, to) => guarded((db) => textOf(db, { path, from, to })),
    close: () => database.isOpen && database.close(),
  };
}

function damageText(place: string): string {
  return `the index was damaged and is made anew; the old one is ${place}`;
}

function begin(db: DatabaseSync, { path, bytes, modifiedMs, digest, title, chars, problem }: KnownDocument): number {
  return inTransaction(db, () => {
    removeDocument(db, path);
    const { lastInsertRowid } = db.prepare("insert into documents (path, bytes, modified_ms, digest, title, chars, problem, is_whole) values (?, ?, ?, ?, ?, ?, ?, 0)").run(path, bytes, modifiedMs, digest, title, chars, problem ?? null);
    return Number(lastInsertRowid);
  });
}

function addPassages(db: DatabaseSync, { id, title }: { readonly id: number; readonly title: string }, passages: readonly Passage[]): void {
  inTransaction(db, () => {
    const row = db.prepare("insert into passages (document, start, heading, body) values (?, ?, ?, ?)");
    const words = db.prepare("insert into words (rowid, title, heading, body) values (?, ?, ?, ?)");
    for (const { start, heading, body } of passages) {
      const { lastInsertRowid } = row.run(id, start, heading ?? null, body);
      words.run(lastInsertRowid, spacedText(title), spacedText(heading ?? ""), spacedText(body));
    }
  });
}

/** Where another process has taken the document out meanwhile, what was written of it goes too. */
function finish(db: DatabaseSync, id: number): void {
  inTransaction(db, () => {
    const { changes } = db.prepare("update documents set is_whole = 1 where id = ?").run(id);
    if (Number(changes) === 0) removePassages(db, id);
  });
}

function removeDocument(db: DatabaseSync, path: string): void {
  for (const { id } of db.prepare("select id from documents where path = ?").all(path)) {
    removePassages(db, Number(id));
    db.prepare("delete from documents where id = ?").run(Number(id));
  }
}

function removePassages(db: DatabaseSync, id: number): void {
  db.prepare("delete from words where rowid in (select id from passages where document = ?)").run(id);
  db.prepare("delete from passages where document = ?").run(id);
}

function inTransaction<Value>(db: DatabaseSync, work: () => Value): Value {
  db.exec("begin immediate");
  try {
    const value = work();
    db.exec("commit");
    return value;
  } catch (fault) {
    if (db.isTransaction) db.exec("rollback");
    throw fault;
  }
}

function searchIn(db: DatabaseSync, query: string, { limit, below }: { readonly limit: number; readonly below?: string | undefined }): readonly FoundPassage[] {
  const match = matchExpression(query);
  if (match === undefined) return [];
  const folder = below === undefined ? "" : `${below}/`;
  const rows = db
    .prepare(
      `select documents.path, documents.title, passages.heading, passages.start, passages.body, bm25(words, 4.0, 2.0, 1.0) as cost
       from words join passages on passages.id = words.rowid join documents on documents.id = passages.document
       where words match ? and documents.is_whole = 1 and (? = '' or documents.path = ? or substr(documents.path, 1, length(?)) = ?)
       order by cost, documents.path, passages.start limit ?`,
    )
    .all(match, folder, below ?? "", folder, folder, limit);
  return rows.map((row) => ({ path: String(row["path"]), title: String(row["title"]), heading: wordsOf(row["heading"]), start: Number(row["start"]), body: String(row["body"]), score: -Number(row["cost"]) }));
}

function textOf(db: DatabaseSync, { path, from, to }: { readonly path: string; readonly from: number; readonly to: number }): string {
  const rows = db
    .prepare(
      `select start, body from passages where document = (select id from documents where path = ? and is_whole = 1)
       and start < ? and start >= coalesce((select max(start) from passages where document = (select id from documents where path = ? and is_whole = 1) and start <= ?), 0) order by start`,
    )
    .all(path, to, path, from);
  const first = Number(rows[0]?.["start"] ?? from);
  return rows.map((row) => String(row["body"])).join("").slice(from - first, to - first);
}

function knownOf(row: Readonly<Record<string, unknown>>): KnownDocument {
  return { path: String(row["path"]), bytes: Number(row["bytes"]), modifiedMs: Number(row["modified_ms"]), digest: String(row["digest"]), title: String(row["title"]), chars: Number(row["chars"]), problem: wordsOf(row["problem"]) };
}

function wordsOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
