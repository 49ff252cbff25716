import type { Clock, Digest, JsonSchema, JsonValue, LearnedOutput, LearnedOutputStore, Tool } from "@callgate/contract";
import { isPlainObject } from "../../lib/is-plain-object.ts";
import { emptyType, mergeTypes, observeValue, parseObservedType } from "./observed-type.ts";
import type { ObservedType } from "./observed-type.ts";
import { observedSchema } from "./observed-schema.ts";

/** A tool as far as its answers are learned from. */
export interface AnsweringTool {
  readonly name: string;
  readonly tool: Tool;
  readonly definitionDigest: Digest;
}

/** What is known of a tool's answers. */
export interface LearnedType extends LearnedOutput {
  /** The same with every field that was seen required: for the check. */
  readonly strict: JsonSchema;
}

/**
 * Types of tools that declare no output, learned from what they answer. Kept for each tenant: names of fields are that tenant's
 * data. A definition that changes begins anew.
 */
export interface LearnedOutputs {
  /** Takes one answer into account. Never throws; costs at most a look at 2,000 parts of it. */
  observe(tool: AnsweringTool, tenant: string, value: unknown): void;
  of(tenant: string, definition: Digest): LearnedType | undefined;
  /** Another number whenever `of` says something else of any tool of this tenant. */
  revision(tenant: string): number;
  /** Writes what has not been written. */
  close(): void;
}

interface Kept {
  readonly name: string;
  type: ObservedType;
  calls: number;
  /** Since it was written last. */
  newCalls: number;
  shown?: LearnedType;
}

/** What others have learned is taken in, and ours written, at most this often. */
const writeAfterMs = 2_000;
/** Tools of one tenant; those that answered longest ago go first. */
const maxTools = 2_000;

/** Types of a tenant, by definition; the one that answered last is the last. */
type Tenant = { readonly tools: Map<Digest, Kept>; revision: number };

export function createLearnedOutputs({ store, clock }: { readonly store: LearnedOutputStore | undefined; readonly clock: Clock }): LearnedOutputs {
  let loaded: Map<string, Tenant> | undefined;
  let timer: { cancel(): void } | undefined;

  const tenants = (): Map<string, Tenant> => (loaded ??= store === undefined ? new Map() : parseKept(store.read()));

  function tenantOf(name: string): Tenant {
    const known = tenants().get(name) ?? { tools: new Map<Digest, Kept>(), revision: 0 };
    tenants().set(name, known);
    return known;
  }

  function write(): void {
    timer?.cancel();
    timer = undefined;
    if (store === undefined || loaded === undefined) return;
    const ours = [...loaded].map(([name, { tools }]) => [name, [...tools].filter(([, { newCalls }]) => newCalls > 0)] as const);
    if (ours.every(([, fresh]) => fresh.length === 0)) return;
    const kept = parseKept(store.read());
    for (const [name, fresh] of ours) addTo(kept, name, fresh);
    store.write(printKept(kept));
  }

  return {
    observe({ name, tool, definitionDigest }, tenant, value) {
      if (tool.output !== undefined || tool.parseOutput !== undefined) return;
      const sensitive = (tool.sensitive ?? []).flatMap((pointer) => tokensOf(pointer));
      const own = tenantOf(tenant);
      const known = own.tools.get(definitionDigest) ?? { name, type: emptyType(), calls: 0, newCalls: 0 };
      own.tools.delete(definitionDigest);
      if (known.calls === 0) for (const [digest, other] of own.tools) if (other.name === name) own.tools.delete(digest);
      own.tools.set(definitionDigest, known);
      const isChanged = observeValue(known.type, value, sensitive);
      const said = stepOf(known.calls);
      known.calls += 1;
      known.newCalls += 1;
      for (const oldest of own.tools.keys()) {
        if (own.tools.size <= maxTools) break;
        own.tools.delete(oldest);
      }
      if (!isChanged && stepOf(known.calls) === said) return;
      delete known.shown;
      own.revision += 1;
      timer ??= store === undefined ? undefined : clock.schedule(writeAfterMs, write);
    },
    of(tenant, definition) {
      const known = tenants().get(tenant)?.tools.get(definition);
      if (known === undefined) return undefined;
      return (known.shown ??= { calls: stepOf(known.calls), schema: observedSchema(known.type, { isRequired: false }), strict: observedSchema(known.type, { isRequired: true }) });
    },
    revision: (tenant) => tenants().get(tenant)?.revision ?? 0,
    close: write,
  };
}

/** 1, 2, 5, 10, 20, 50 ... */
function stepOf(calls: number): number {
  if (calls < 1) return 0;
  const power = 10 ** Math.floor(Math.log10(calls));
  return power * (calls >= 5 * power ? 5 : calls >= 2 * power ? 2 : 1);
}

/** Pointers into the output: `/output/items/*\/iban`. */
function tokensOf(pointer: string): readonly (readonly string[])[] {
  const [, side, ...tokens] = pointer.split("/").map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  return side === "output" ? [tokens] : [];
}

function addTo(kept: Map<string, Tenant>, tenant: string, fresh: readonly (readonly [Digest, Kept])[]): void {
  const theirs = kept.get(tenant) ?? { tools: new Map<Digest, Kept>(), revision: 0 };
  kept.set(tenant, theirs);
  for (const [digest, ours] of fresh) {
    const other = theirs.tools.get(digest);
    theirs.tools.delete(digest);
    for (const [older, { name }] of theirs.tools) if (name === ours.name) theirs.tools.delete(older);
    const merged: Kept = { name: ours.name, type: ours.type, calls: (other?.calls ?? 0) + ours.newCalls, newCalls: 0 };
    if (other !== undefined) mergeTypes(merged.type, other.type);
    theirs.tools.set(digest, merged);
    ours.newCalls = 0;
  }
  for (const oldest of theirs.tools.keys()) {
    if (theirs.tools.size <= maxTools) break;
    theirs.tools.delete(oldest);
  }
}

const version = 1;

function printKept(tenants: ReadonlyMap<string, Tenant>): JsonValue {
  return { version, tenants: Object.fromEntries([...tenants].map(([tenant, { tools }]) => [tenant, Object.fromEntries([...tools].map(([digest, { name, calls, type }]) => [digest, { name, calls, type: type as unknown as JsonValue }]))])) };
}

/** Of what is not as it was written nothing is taken: types are learned again. */
function parseKept(value: unknown): Map<string, Tenant> {
  const kept = new Map<string, Tenant>();
  if (!isPlainObject(value) || value["version"] !== version || !isPlainObject(value["tenants"])) return kept;
  for (const [tenant, entries] of Object.entries(value["tenants"])) {
    if (!isPlainObject(entries)) continue;
    const tools = new Map<Digest, Kept>();
    for (const [digest, entry] of Object.entries(entries)) {
      const type = isPlainObject(entry) ? parseObservedType(entry["type"]) : undefined;
      const { name, calls } = isPlainObject(entry) ? entry : {};
      if (type !== undefined && typeof name === "string" && typeof calls === "number" && calls >= 1) tools.set(digest as Digest, { name, type, calls: Math.floor(calls), newCalls: 0 });
    }
    kept.set(tenant, { tools, revision: 0 });
  }
  return kept;
}
