// A table of a million rows, read page by page through a source of each database: every row must come once, in order, and this
// process must never hold more than a few pages. Prints a table, and writes it to docs/results/sql.md with --write.
//
//   node checks/full/sql-million.mjs [--rows 1000000] [--write]
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseArgs } from "node:util";
import { createSqlSource } from "@callgate/source-sql";
import { missingPostgres, startPostgres } from "../../packages/journal-postgres/src/fixtures/private-postgres.ts";
import { callTool } from "../../packages/source-sql/src/fixtures/call-context.ts";
import { missingMariadb, startMariadb } from "../../packages/source-sql/src/fixtures/private-mariadb.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

const { values } = parseArgs({ options: { rows: { type: "string", default: "1000000" }, write: { type: "boolean", default: false } } });
const rows = Number(values.rows);
const limit = 10_000;
const table = "create table events (id integer primary key, kind varchar(40) not null, note varchar(200))";
const fill = (numbers) => `insert into events select n, concat('kind ', n % 7), repeat('x', 60) from ${numbers}`;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const sqlite = {
  name: "SQLite",
  open() {
    const folder = mkdtempSync(join(tmpdir(), "callgate-sql-million-"));
    const file = join(folder, "events.db");
    const own = new DatabaseSync(file);
    own.exec(`${table}; with recursive up (n) as (select 1 union all select n + 1 from up where n < ${rows}) insert into events select n, 'kind ' || (n % 7), printf('%.*c', 60, 'x') from up`);
    own.close();
    return { place: { file }, close: () => rmSync(folder, { recursive: true, force: true }) };
  },
};
const postgres = {
  name: "PostgreSQL",
  missing: missingPostgres(),
  async open() {
    const server = await startPostgres({ fsync: false });
    const url = await server.createDatabase("million");
    server.restoreDatabase(`${table}; ${fill(`generate_series(1, ${rows}) n`)}`, "million");
    return { place: { url }, close: () => server.stop() };
  },
};
const mariadb = {
  name: "MariaDB",
  missing: missingMariadb(),
  async open() {
    const server = await startMariadb();
    const url = await server.createDatabase("million");
    await server.admin(`use million; ${table}; ${fill(`(select seq as n from seq_1_to_${rows}) numbers`)}`);
    return { place: { url }, close: () => server.stop() };
  },
};

async function read({ place }) {
  const source = createSqlSource({ namespace: "million", ...place, readOnly: true });
  try {
    await source.list(AbortSignal.timeout(60_000));
    collect();
    const rest = process.memoryUsage().rss;
    let [most, next, pages, cursor] = [0, 1, 0, null];
    do {
      const page = await callTool(source, "find_events", { orderBy: [{ column: "id" }], limit, cursor });
      for (const row of page.page) assert.equal(row.id, next++);
      cursor = page.next?.cursor ?? null;
      pages += 1;
      most = Math.max(most, process.memoryUsage().rss - rest);
    } while (cursor !== null);
    assert.equal(next - 1, rows);
    return { pages, most: most / 2 ** 20 };
  } finally {
    await source.close();
  }
}

const lines = [];
for (const database of [sqlite, postgres, mariadb]) {
  if (database.missing !== undefined) {
    console.log(`${database.name}: skipped, ${database.missing}`);
    continue;
  }
  const opened = await database.open();
  try {
    const { pages, most } = await read(opened);
    lines.push([database.name, rows, pages, Math.round(most)]);
  } finally {
    await opened.close();
  }
}
const text = `${markdownTable(["database", "rows, each once and in order", "pages", "memory over rest, MiB"], lines)}\n\n${measured("node checks/full/sql-million.mjs --write")} The memory is that of the process that reads.`;
console.log(text);
if (values.write) writeSection({ page: "sql.md", intro: "# Databases as sources\n\nWhat a large table costs the process that reads it.", section: "A million rows, page by page", text });
