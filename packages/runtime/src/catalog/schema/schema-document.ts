import type { JsonSchema } from "@callgate/contract";
import { escapePointer } from "../../lib/json-pointer.ts";
import { isRecord, isSchema, own, subschemas } from "./json-schema.ts";
import type { SchemaObject } from "./json-schema.ts";

/** Where a `$ref` leads. `key` names the target: the same for every way of writing it. */
export interface RefTarget {
  readonly key: string;
  readonly schema: JsonSchema;
}

/** One schema with its references. */
export interface SchemaDocument {
  readonly root: JsonSchema;
  /** Undefined for a reference that leads out of the document or nowhere. */
  resolve(from: SchemaObject, ref: string): RefTarget | undefined;
  /** Every reference that does not resolve, with the JSON Pointer of the schema that holds it. */
  readonly brokenRefs: readonly { readonly pointer: string; readonly ref: string }[];
}

const rootUri = "schema:///";

interface Place {
  readonly pointer: string;
  readonly base: string;
}

/** What is known of a document's schemas: where each stands, and what each URI means. */
interface Index {
  readonly places: Map<SchemaObject, Place>;
  readonly byUri: Map<string, RefTarget>;
}

/** Indexes a schema: `$id` (also draft-07's `#name`), `$anchor`, `$dynamicAnchor`, `$defs`, pointers. Linear in its size. */
export function openSchema(root: JsonSchema): SchemaDocument {
  const index: Index = { places: new Map(), byUri: new Map() };
  const { places, byUri } = index;
  const walk: { schema: unknown; place: Place }[] = [{ schema: root, place: { pointer: "", base: rootUri } }];
  byUri.set(rootUri, { key: "", schema: root });
  for (let next = walk.pop(); next !== undefined; next = walk.pop()) {
    const { schema } = next;
    if (!isRecord(schema) || places.has(schema)) continue;
    const place = { pointer: next.place.pointer, base: baseOf(schema, next.place, byUri) };
    places.set(schema, place);
    for (const sub of subschemas(schema)) {
      const pointer = place.pointer + sub.path.map((key) => `/${escapePointer(key)}`).join("");
      walk.push({ schema: sub.schema, place: { pointer, base: place.base } });
    }
  }
  const resolve = (from: SchemaObject, ref: string): RefTarget | undefined => resolveRef(ref, places.get(from)?.base ?? rootUri, index);
  const brokenRefs = [...places]
    .map(([schema, { pointer }]) => ({ schema, pointer, ref: refOf(schema) }))
    .flatMap(({ schema, pointer, ref }) => (ref !== undefined && resolve(schema, ref) === undefined ? [{ pointer, ref }] : []));
  return { root, resolve, brokenRefs };
}

/** The reference a schema is or holds. One schema has at most one that counts. */
export function refOf(schema: SchemaObject): string | undefined {
  const ref = own(schema, "$ref") ?? own(schema, "$dynamicRef") ?? own(schema, "$recursiveRef");
  return typeof ref === "string" ? ref : undefined;
}

function baseOf(schema: SchemaObject, place: Place, byUri: Map<string, RefTarget>): string {
  const target: RefTarget = { key: place.pointer, schema };
  let base = place.base;
  const id = own(schema, "$id");
  if (typeof id === "string") {
    const uri = absolute(id, base);
    if (uri !== undefined) {
      byUri.set(uri.replace(/#$/, ""), target);
      if (!id.startsWith("#")) base = uri.replace(/#.*$/, "");
    }
  }
  for (const keyword of ["$anchor", "$dynamicAnchor"]) {
    const anchor = own(schema, keyword);
    if (typeof anchor === "string") byUri.set(`${base}#${anchor}`, target);
  }
  return base;
}

function absolute(uri: string, base: string): string | undefined {
  return URL.parse(uri, base)?.href ?? (uri.startsWith("#") ? base.replace(/#.*$/, "") + uri : undefined);
}

function resolveRef(ref: string, base: string, { byUri, places }: Index): RefTarget | undefined {
  const uri = absolute(ref, base);
  if (uri === undefined) return undefined;
  const hash = uri.indexOf("#");
  const known = byUri.get(uri.replace(/#$/, ""));
  if (known !== undefined || hash === -1) return known;
  const document = byUri.get(uri.slice(0, hash));
  const fragment = decode(uri.slice(hash + 1));
  if (document === undefined || fragment === undefined || !fragment.startsWith("/")) return undefined;
  return follow(document, fragment, places);
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function follow(document: RefTarget, fragment: string, places: Map<SchemaObject, Place>): RefTarget | undefined {
  let at: unknown = document.schema;
  for (const part of fragment.slice(1).split("/")) {
    const key = part.replace(/~1/g, "/").replace(/~0/g, "~");
    if (Array.isArray(at)) at = /^\d+$/.test(key) ? (at as unknown[])[Number(key)] : undefined;
    else at = isRecord(at) ? own(at, key) : undefined;
  }
  if (!isSchema(at)) return undefined;
  const pointer = isRecord(at) ? places.get(at)?.pointer : undefined;
  return { key: pointer ?? document.key + fragment, schema: at };
}

