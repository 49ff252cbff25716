// Door: the record of runs in PostgreSQL.

export { createPostgresJournal } from "./postgres-journal.ts";
export type { PostgresJournal, PostgresJournalOptions } from "./postgres-journal.ts";
