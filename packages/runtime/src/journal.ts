// Door: the record of runs, the blobs and the answers beside it, and the keys of all.

export { createSealedAnswers } from "./cache/sealed-answers.ts";
export { createSqliteAnswerStore } from "./cache/sqlite-answer-store.ts";
export type { SqliteAnswerStoreOptions } from "./cache/sqlite-answer-store.ts";
export { callSummaries } from "./journal/call-summaries.ts";
export { createFileBlobs } from "./journal/file-blobs.ts";
export type { FileBlobs, FileBlobsOptions } from "./journal/file-blobs.ts";
export { createSqliteJournal, defaultJournalLimits } from "./journal/sqlite-journal.ts";
export type { JournalLimits, SqliteJournal, SqliteJournalOptions } from "./journal/sqlite-journal.ts";
export { makePrivateFolder } from "./lib/make-private-folder.ts";
export { createMasterKey, openMasterKey } from "./secrets/master-key.ts";
export type { MasterKey } from "./secrets/master-key.ts";
export { createRedactor } from "./secrets/redactor.ts";
export { createSecretVault } from "./secrets/secret-vault.ts";
export type { RedactorOptions } from "./secrets/redactor.ts";
