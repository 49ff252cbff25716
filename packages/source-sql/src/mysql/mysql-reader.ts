import type { Connection, FieldPacket, PrepareStatementInfo } from "mysql2";
import { rowBytes } from "../cell-bytes.ts";
import type { Meter } from "../meter.ts";
import type { Row, RowReader } from "../session.ts";
import { SqlFault } from "../sql-fault.ts";
import { mysqlFault } from "./mysql-fault.ts";
import { mysqlColumn, readMysqlCell } from "./mysql-values.ts";

export interface MysqlReaderParts {
  readonly connection: Connection;
  readonly statement: PrepareStatementInfo;
  readonly values: readonly unknown[];
  readonly meter: Meter;
  readonly clean: () => Promise<void>;
  readonly destroy: () => void;
}

/** Rows that wait here at most; beyond them the server waits. */
const rowsAhead = 16;

/** Begins the statement and reads its rows as they are asked for; between reads the connection is paused. */
export async function createMysqlReader({ connection, statement, values, meter, clean, destroy }: MysqlReaderParts): Promise<RowReader> {
  let tooLarge: number | undefined;
  let sinceRow = 0;
  let isOver = false;
  let closed: Promise<void> | undefined;
  // Without a callback the rows are events, and are not gathered.
  const query = statement.execute([...values]);
  const stream = query.stream({ highWaterMark: rowsAhead });
  query.on("result", () => void (sinceRow = 0));
  // That a connection is lost is told to statements with a callback; this one would wait for ever.
  const lost = (error?: Error): void => void stream.destroy(error ?? new Error("the server closed the connection"));
  connection.on("error", lost).on("end", lost);
  stream.once("close", () => connection.off("error", lost).off("end", lost));
  const fields = await new Promise<readonly FieldPacket[]>((resolve, reject) => {
    query.on("fields", (packets) => resolve(packets as unknown as readonly FieldPacket[]));
    stream.once("error", (error) => reject(mysqlFault(error, true)));
  });
  stream.on("error", () => undefined); // Told by the iterator.
  const columns = fields.map(mysqlColumn);
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<unknown[]>;

  async function next(maxBytes: number): Promise<Row | undefined> {
    meter.onBytes = (bytes) => {
      sinceRow += bytes;
      if (sinceRow <= maxBytes * 2 + 65_536 || tooLarge !== undefined) return;
      tooLarge = maxBytes;
      destroy();
    };
    try {
      const { done, value } = await iterator.next();
      return done === true ? undefined : value.map((cell, place) => readMysqlCell(cell, columns[place]?.kind ?? "any"));
    } catch (error) {
      throw tooLarge === undefined ? mysqlFault(error, true) : new SqlFault({ kind: "too_large", message: `a row is larger than ${tooLarge} bytes`, cause: error });
    } finally {
      meter.onBytes = undefined;
    }
  }

  return {
    columns,
    async read(maxRows, maxBytes) {
      const rows: Row[] = [];
      for (let left = maxBytes; rows.length < maxRows && left > 0 && !isOver; ) {
        const row = await next(maxBytes);
        if (row === undefined) isOver = true;
        else {
          rows.push(row);
          left -= rowBytes(row);
        }
      }
      return { rows, done: isOver };
    },
    // What is left of a result cannot be skipped: a connection costs less than reading it.
    close: () => (closed ??= isOver ? clean() : Promise.resolve(destroy())),
  };
}
