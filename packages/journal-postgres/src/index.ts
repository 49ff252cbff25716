// Door: the record of runs in PostgreSQL.

export { inspectPostgres } from "./inspect-postgres.ts";
export type { PostgresFinding } from "./inspect-postgres.ts";
export { createPostgresJournal } from "./postgres-journal.ts";
export type { PostgresJournal, PostgresJournalOptions } from "./postgres-journal.ts";
