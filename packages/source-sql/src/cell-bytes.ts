import type { Row } from "./session.ts";

/** About what a row weighs: for bounds, so that close is close enough. */
export function rowBytes(row: Row): number {
  let bytes = 0;
  for (const cell of row) bytes += cellBytes(cell);
  return bytes;
}

function cellBytes(cell: unknown): number {
  if (typeof cell === "string") return cell.length;
  if (typeof cell !== "object" || cell === null) return 8;
  if (ArrayBuffer.isView(cell)) return cell.byteLength;
  // Parsed JSON and arrays, which databases keep small; walking all of it would cost as much as making it.
  return Array.isArray(cell) ? cell.length * 16 : Object.keys(cell).length * 32;
}
