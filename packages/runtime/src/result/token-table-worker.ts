// Entry of a worker thread that lives for half a second: makes the table of o200k, hands it over, and ends.
import { parentPort } from "node:worker_threads";
import o200k from "gpt-tokenizer/bpeRanks/o200k_base";
import { buildTokenTable } from "./token-table.ts";

const table = buildTokenTable(o200k);
parentPort?.postMessage(table, [table.bytes.buffer, table.starts.buffer, table.slots.buffer]);
