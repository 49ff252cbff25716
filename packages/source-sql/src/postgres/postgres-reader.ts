import type { Meter } from "../meter.ts";
import type { Row, RowReader } from "../session.ts";
import { SqlFault } from "../sql-fault.ts";
import type { ResultColumn } from "../table.ts";

export interface PostgresReaderParts {
  readonly columns: readonly ResultColumn[];
  readonly fetch: (rows: number) => Promise<readonly Row[]>;
  readonly meter: Meter;
  /** Ends the transaction and leaves the connection as it was. */
  readonly clean: () => Promise<void>;
  readonly destroy: () => void;
}

/** How many times as many rows are asked for as the time before, while they are small. */
const growth = 16;

/**
 * Reads a cursor. An answer of the server is held as a whole, so the first asks for one row, and each later one for as many
 * as fit by what rows have been so far. What is far over the bound all the same ends the connection before it has arrived.
 */
export function createPostgresReader({ columns, fetch, meter, clean, destroy }: PostgresReaderParts): RowReader {
  let batch = 1;
  let rowBytes = 0;
  let isOver = false;
  let closed: Promise<void> | undefined;

  async function fetchBounded(wanted: number, maxBytes: number): Promise<{ readonly rows: readonly Row[]; readonly bytes: number }> {
    let bytes = 0;
    let isTooLarge = false;
    meter.onBytes = (more) => {
      bytes += more;
      // Bytes as hexadecimal are twice as long, and one batch may hold rows larger than those before.
      if (bytes <= maxBytes * 4 + 65_536 || isTooLarge) return;
      isTooLarge = true;
      destroy();
    };
    try {
      return { rows: await fetch(wanted), bytes };
    } catch (error) {
      throw isTooLarge ? new SqlFault({ kind: "too_large", message: `a row is larger than ${maxBytes} bytes`, cause: error }) : error;
    } finally {
      meter.onBytes = undefined;
    }
  }

  return {
    columns,
    async read(maxRows, maxBytes) {
      const rows: Row[] = [];
      for (let left = maxBytes; rows.length < maxRows && left > 0 && !isOver; ) {
        const fitting = rowBytes === 0 ? 1 : Math.max(1, Math.floor(left / rowBytes));
        const wanted = Math.min(batch, fitting, maxRows - rows.length);
        const got = await fetchBounded(wanted, maxBytes);
        rows.push(...got.rows);
        left -= got.bytes;
        rowBytes = Math.max(1, got.bytes / Math.max(1, got.rows.length));
        batch = Math.min(10_000, Math.max(1, wanted) * growth);
        if (got.rows.length < wanted) isOver = true;
      }
      return { rows, done: isOver };
    },
    close: () => (closed ??= clean()),
  };
}
