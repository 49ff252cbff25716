const exportSection = 7;
const tableKind = 1;
const headerBytes = 8;

/** The name under which `exportTable` exports the table of functions. */
export const tableName = "table";

/**
 * The engine's file with one more export: its table of functions. The engine has a hook for promises that are rejected
 * while nobody waits for them, and its build has no function that sets it; a function of ours in the table can be set.
 *
 * @param bytes a WebAssembly module with a section of exports; its sections are in the order of the standard
 */
export function exportTable(bytes: Buffer): Buffer {
  for (let at = headerBytes; at < bytes.length; ) {
    const size = readNumber(bytes, at + 1);
    const end = size.end + size.value;
    if (bytes[at] === exportSection) {
      const count = readNumber(bytes, size.end);
      const entry = Buffer.from([tableName.length, ...Buffer.from(tableName), tableKind, 0]);
      const body = Buffer.concat([numberBytes(count.value + 1), bytes.subarray(count.end, end), entry]);
      return Buffer.concat([bytes.subarray(0, at + 1), numberBytes(body.length), body, bytes.subarray(end)]);
    }
    at = end;
  }
  return bytes;
}

/** Seven bits a byte, the lowest first. */
function readNumber(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start, shift = 0; ; at++, shift += 7) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 127) << shift;
    if (byte < 128) return { value, end: at + 1 };
  }
}

function numberBytes(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left >>>= 7) bytes.push((left & 127) | 128);
  return Buffer.from([...bytes, left]);
}
