import { CallgateError } from "@callgate/contract";
import type { Digest, JsonObject, PinnedTool, SourceListing, SourcePins, SourceProblem, SourceTool, Tool } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";

/** What was seen of a source at one time. */
export interface SeenSource {
  readonly namespace: string;
  readonly purpose: string;
  readonly identity: Digest;
  readonly tools: readonly PinnedTool[];
}

/** A listed tool without its code; undefined for one that has no name, which the catalog refuses. */
export function pinOf({ tool }: SourceTool, atMs: number): PinnedTool | undefined {
  const name: unknown = (tool as { readonly name?: unknown } | null | undefined)?.name;
  if (typeof name !== "string") return undefined;
  const definition = definitionOf(tool);
  // The deadline is the user's own setting.
  const { timeoutMs: _ours, ...declared } = definition;
  return { name, definition, digest: digestOf(declared), atMs };
}

/** Digits of a whole number that no double holds are kept as text: it is compared and shown, never called with. */
function definitionOf(tool: Tool): JsonObject {
  return JSON.parse(JSON.stringify(tool, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value))) as JsonObject;
}

/** The first use of a source: all it has is pinned. */
export function firstPins({ namespace, purpose, identity, tools }: SeenSource): SourcePins {
  return { namespace, purpose, identity, isTrusted: false, tools, held: [], gone: [] };
}

/** Pins with what was seen now. Tools that nobody changed are as pinned; everything else is held. */
export function comparePins(pins: SourcePins, seen: SeenSource): SourcePins {
  const isMoved = pins.identity !== seen.identity;
  const pinned = new Map(pins.tools.map((tool) => [tool.name, tool.digest]));
  const before = new Map(pins.held.map((tool) => [tool.name, tool]));
  const held = seen.tools.filter(({ name, digest }) => isMoved || pinned.get(name) !== digest).map((tool) => (before.get(tool.name)?.digest === tool.digest ? (before.get(tool.name) ?? tool) : tool));
  const names = new Set(seen.tools.map(({ name }) => name));
  const { heldIdentity: _before, ...rest } = pins;
  return { ...rest, purpose: isMoved ? pins.purpose : seen.purpose, held, gone: pins.tools.flatMap(({ name }) => (names.has(name) ? [] : [name])), ...(isMoved ? { heldIdentity: seen.identity } : {}) };
}

/**
 * Approves what is held: the named tools, or all, and with all of them the place where they were seen. Tools that are gone
 * are forgotten with that.
 *
 * Errors: `CallgateError` USAGE for a name that is not held, and for single tools of a source that has moved.
 */
export function approvePins(pins: SourcePins, { tools, trust }: { readonly tools?: readonly string[]; readonly trust?: boolean }): SourcePins {
  const isTrusted = trust ?? pins.isTrusted;
  if (tools === undefined) {
    const names = new Set(pins.held.map(({ name }) => name));
    const { heldIdentity, ...rest } = pins;
    const kept = heldIdentity === undefined ? pins.tools.filter(({ name }) => !names.has(name) && !pins.gone.includes(name)) : [];
    return { ...rest, isTrusted, identity: heldIdentity ?? pins.identity, tools: [...kept, ...pins.held], held: [], gone: [] };
  }
  if (pins.heldIdentity !== undefined) throw new CallgateError("USAGE", `"${pins.namespace}" is reached at another place than the pinned one: approve it as a whole, without names of tools`);
  const missing = tools.find((name) => !pins.held.some((held) => held.name === name));
  if (missing !== undefined) throw new CallgateError("USAGE", `"${missing}" of "${pins.namespace}" is not held; what is held: ${pins.held.map(({ name }) => name).join(", ") || "nothing"}`);
  const approved = new Set(tools);
  const taken = pins.held.filter(({ name }) => approved.has(name));
  return { ...pins, isTrusted, tools: [...pins.tools.filter(({ name }) => !approved.has(name)), ...taken], held: pins.held.filter(({ name }) => !approved.has(name)) };
}

/** What is told of what is held. */
export function pinProblems(pins: SourcePins): readonly SourceProblem[] {
  const { namespace, held, heldIdentity, gone, tools } = pins;
  const look = `Look at it with callgate pins diff ${namespace}, then callgate pins approve ${namespace}`;
  if (heldIdentity !== undefined) return [{ message: `Its command or URL is another than the one its tools were pinned with: all of its tools are held. ${look}` }];
  const known = new Set(tools.map(({ name }) => name));
  return [
    ...held.map(({ name }) => ({ tool: name, message: `${known.has(name) ? "Its definition has changed since it was pinned" : "It is new since the source was pinned"}; it is held. ${look} ${name}` })),
    ...gone.map((name) => ({ tool: name, message: "The source has it no more" })),
  ];
}

/** Names of tools that may be used: pinned, not changed and not gone. */
export function usableNames({ tools, held, heldIdentity, gone }: SourcePins): ReadonlySet<string> {
  const out = new Set([...held.map(({ name }) => name), ...gone]);
  return new Set(heldIdentity === undefined ? tools.flatMap(({ name }) => (out.has(name) ? [] : [name])) : []);
}

/** A listing made of pins alone, for a source that was not asked. */
export function listingOf(pins: SourcePins, toolOf: (pinned: PinnedTool) => Tool): SourceListing {
  const usable = usableNames(pins);
  return { tools: pins.tools.flatMap((pinned) => (usable.has(pinned.name) ? [{ tool: toolOf(pinned), claimed: !pins.isTrusted }] : [])), problems: pinProblems(pins) };
}
