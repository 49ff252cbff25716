import { createHmac } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** Nodes of a container that go into its hash; what is beyond counts by number only. */
const MAX_NODES = 2_000;

/** Characters of a text that go into its hash, from its head and from its tail. */
const MAX_TEXT_CHARS = 32 * 1024;

/**
 * `hash:` and 16 hex digits of an HMAC-SHA-256: equal for equal values whatever the order of their keys, and telling
 * nothing without the key. Bounded: of texts over 64 KiB head, tail and length count, of containers the first 2,000
 * nodes and the sizes; such values differ under equal hashes only where they differ outside of that.
 */
export function keyedHash(key: KeyObject, value: unknown): string {
  const hmac = createHmac("sha256", key);
  let nodes = 0;

  function add(item: unknown): void {
    nodes += 1;
    if (nodes > MAX_NODES) return;
    if (typeof item === "string") {
      const isLong = item.length > 2 * MAX_TEXT_CHARS;
      hmac.update(`s${item.length}:`).update(JSON.stringify(isLong ? item.slice(0, MAX_TEXT_CHARS) + item.slice(-MAX_TEXT_CHARS) : item));
    } else if (typeof item !== "object" || item === null) {
      hmac.update(`${typeof item}:${Object.is(item, -0) ? "-0" : String(item)};`);
    } else {
      addContainer(item);
    }
  }

  function addContainer(item: object): void {
    if (Array.isArray(item)) {
      hmac.update(`[${item.length}:`);
      for (let index = 0; index < item.length && nodes <= MAX_NODES; index += 1) add(item[index]);
    } else if (item instanceof Date) {
      hmac.update(`date:${item.getTime()};`);
    } else if (item instanceof Map || item instanceof Set) {
      hmac.update(`${item.constructor.name}${item.size}:`);
      for (const entry of item) {
        if (nodes > MAX_NODES) break;
        add(entry);
      }
    } else if (ArrayBuffer.isView(item)) {
      const bytes = Buffer.from(item.buffer, item.byteOffset, item.byteLength);
      hmac.update(`bytes${bytes.length}:`).update(bytes.subarray(0, MAX_TEXT_CHARS)).update(bytes.subarray(-MAX_TEXT_CHARS));
    } else {
      const keys = Object.keys(item).sort();
      hmac.update(`{${keys.length}:`);
      for (const name of keys) {
        if (nodes > MAX_NODES) break;
        hmac.update(JSON.stringify(name));
        add((item as Record<string, unknown>)[name]);
      }
    }
  }

  add(value);
  return `hash:${hmac.digest("hex").slice(0, 16)}`;
}
