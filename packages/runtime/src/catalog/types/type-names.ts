import { identifierOf } from "../naming.ts";
import { intersectionOf, unionOf, unknownType, widthOf } from "./type-node.ts";
import type { TypeNode } from "./type-node.ts";

export interface NameRequest {
  /** Names the target; the same target gets the same name. */
  readonly key: string;
  readonly scope: string;
  /** What the schema calls it. */
  readonly hint: string;
  convert(): TypeNode;
}

export interface NamedType {
  readonly name: string;
  readonly type: TypeNode;
}

/** The named types of one module, in the order they were first needed. */
export interface TypeNames {
  /** The name as a type; converts what is behind it when it is first asked for. */
  nameFor(request: NameRequest): TypeNode;
  /** A name that is not taken, from the given one. */
  claim(wanted: string): string;
  /** All of them, with endless ones (`A = A | string`) cut at `unknown`. */
  all(): readonly NamedType[];
}

export function createTypeNames(): TypeNames {
  const byKey = new Map<string, string>();
  const types = new Map<string, TypeNode>();
  // Declarations use the global of this name.
  const taken = new Set<string>(["Promise"]);
  const claim = (wanted: string): string => {
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = `${wanted}${count}`;
    taken.add(name);
    return name;
  };
  const typeOf = (name: string): TypeNode => ({ kind: "name", name, width: widthOf(types.get(name) ?? unknownType) });
  const nameFor = (request: NameRequest): TypeNode => {
    const known = byKey.get(request.key);
    if (known !== undefined) return typeOf(known);
    const name = claim(`${pascal(request.scope)}${pascal(request.hint)}`);
    byKey.set(request.key, name);
    types.set(name, unknownType);
    types.set(name, request.convert());
    return typeOf(name);
  };
  return { nameFor, claim, all: () => withoutEndless(types) };
}

/** `create_issue` and `#/$defs/issue.state` become `CreateIssue` and `IssueState`. */
export function pascal(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const joined = words.map((word) => (word[0] ?? "").toUpperCase() + word.slice(1)).join("");
  return identifierOf(joined === "" ? "Type" : joined, "tool");
}

/**
 * TypeScript refuses an alias that leads to itself without an object or array between. Such a schema accepts nothing in
 * particular (a validator would not end on it), so the step that closes the circle is `unknown`.
 */
function withoutEndless(types: ReadonlyMap<string, TypeNode>): NamedType[] {
  const result = new Map(types);
  const done = new Set<string>();
  const visit = (name: string, open: ReadonlySet<string>): void => {
    if (done.has(name)) return;
    const within = new Set(open).add(name);
    const type = result.get(name) ?? unknownType;
    result.set(name, mapNames(type, (other) => within.has(other)));
    for (const other of directNames(result.get(name) ?? unknownType)) visit(other, within);
    done.add(name);
  };
  for (const name of types.keys()) visit(name, new Set());
  return [...result].map(([name, type]) => ({ name, type }));
}

function directNames(type: TypeNode): string[] {
  if (type.kind === "name") return [type.name];
  return type.kind === "union" || type.kind === "intersection" ? type.members.flatMap(directNames) : [];
}

function mapNames(type: TypeNode, isEndless: (name: string) => boolean): TypeNode {
  if (type.kind === "name") return isEndless(type.name) ? unknownType : type;
  if (type.kind === "union") return unionOf(type.members.map((member) => mapNames(member, isEndless)));
  if (type.kind === "intersection") return intersectionOf(type.members.map((member) => mapNames(member, isEndless)));
  return type;
}
