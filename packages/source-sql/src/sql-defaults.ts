/** Bounds of a database where nothing is said. */
export const defaults = { statementTimeoutMs: 30_000, connectTimeoutMs: 10_000, pageRows: 1_000, maxPageBytes: 8 * 1024 * 1024, cursorIdleMs: 60_000 };
