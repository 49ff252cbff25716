import { join, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Blobs, Clock, Journal } from "@callgate/contract";
import type { createPostgresJournal, inspectPostgres, PostgresFinding } from "@callgate/journal-postgres";
import { createFileBlobs, createSqliteJournal, openMasterKey } from "@callgate/runtime/journal";
import type { MasterKey } from "@callgate/runtime/journal";
import type { CallgateConfig } from "./config/load-config.ts";
import { resolveReferences } from "./config/secret-references.ts";
import { userFolders } from "./state-folder.ts";

export interface OpenedJournal {
  readonly journal: Journal;
  readonly blobs: Blobs;
  readonly key: MasterKey;
  readonly notices: readonly string[];
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

export interface JournalPlace {
  /** Where relative paths start. */
  readonly folder: string;
  readonly stateFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

const dayMs = 86_400_000;

/** Opens the journal a configuration names: a file of this machine, or a PostgreSQL that many share. Errors: CONFIG_INVALID, JOURNAL_*. */
export async function openJournal(config: NonNullable<CallgateConfig["journal"]>, place: JournalPlace): Promise<OpenedJournal> {
  const { folder, stateFolder, clock } = place;
  const { maxMiB, maxAgeDays, maxKeyAgeDays, path, postgres } = config;
  const { key } = await openMasterKey(keyFileAt(config, place));
  const ages = { ...(maxAgeDays === undefined ? {} : { maxAgeMs: maxAgeDays * dayMs }), ...(maxKeyAgeDays === undefined ? {} : { maxKeyAgeMs: maxKeyAgeDays * dayMs }) };
  if (postgres !== undefined) {
    if (path !== undefined || maxMiB !== undefined) throw new CallgateError("CONFIG_INVALID", "journal.postgres goes with neither journal.path nor journal.maxMiB: it is one place or the other");
    const { values, secrets } = resolveReferences({ postgres }, "journal", place);
    const { createPostgresJournal } = await loadDriver();
    const journal = await createPostgresJournal({ url: values["postgres"] ?? "", masterKey: key, clock, ...ages });
    return { journal, blobs: journal.blobs, key, notices: [], secrets };
  }
  const blobs = createFileBlobs({ folder: join(stateFolder, "blobs") });
  const limits = { ...(maxMiB === undefined ? {} : { maxBytes: maxMiB * 1024 * 1024 }), ...ages };
  const journal = await createSqliteJournal({ path: path === undefined ? join(stateFolder, "journal.db") : path === ":memory:" ? path : resolve(folder, path), blobs, masterKey: key, clock, limits });
  return { journal, blobs, key, notices: journal.notices, secrets: [] };
}

/** The file of the master key. */
export function keyFileAt({ keyFile }: NonNullable<CallgateConfig["journal"]>, { folder, stateFolder }: Pick<JournalPlace, "folder" | "stateFolder">): string {
  return keyFile === undefined ? join(stateFolder, "master.key") : resolve(folder, keyFile);
}

/** What of this machine is Callgate's own, so that no program may see it: journal, keys, trust, configuration of the user. */
export function ownPlacesOf({ path, keyFile }: NonNullable<CallgateConfig["journal"]>, { folder, stateFolder }: Pick<JournalPlace, "folder" | "stateFolder">): readonly string[] {
  const { state, config } = userFolders();
  return [stateFolder, state, config, ...[path === ":memory:" ? undefined : path, keyFile].flatMap((file) => (file === undefined ? [] : [resolve(folder, file)]))];
}

/** What can be said of a journal in PostgreSQL before it is opened; nothing of one in a file. Errors: CONFIG_INVALID. */
export async function inspectJournal(config: NonNullable<CallgateConfig["journal"]>, place: Pick<JournalPlace, "folder" | "env">): Promise<readonly PostgresFinding[]> {
  if (config.postgres === undefined) return [];
  const { values } = resolveReferences({ postgres: config.postgres }, "journal", place);
  return await (await loadDriver()).inspectPostgres({ url: values["postgres"] ?? "" });
}

/** Not everybody needs it, so it is installed by those who do. */
async function loadDriver(): Promise<{ readonly createPostgresJournal: typeof createPostgresJournal; readonly inspectPostgres: typeof inspectPostgres }> {
  try {
    return await import("@callgate/journal-postgres");
  } catch (error) {
    throw new CallgateError("CONFIG_INVALID", "journal.postgres needs the package @callgate/journal-postgres: npm i @callgate/journal-postgres", { cause: error });
  }
}
