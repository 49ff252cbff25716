import type { JsonValue } from "@callgate/contract";
import { parser } from "@lezer/javascript";
import { isPlainObject } from "../lib/is-plain-object.ts";

/** A literal of a program that stands for one of its inputs. */
export interface InputLiteral {
  /** What the program calls it: `inputs.<name>`. */
  readonly name: string;
  readonly value: string | number;
  /** Which literals of the text these are, counted from 0. */
  readonly places: readonly number[];
}

interface Literal {
  readonly from: number;
  readonly to: number;
  readonly index: number;
  readonly value: string | number;
  readonly name: string;
}

/**
 * The literals of a program that went into calls as they stand: the value of a property, an item of a list in one, or what
 * a name was declared with, equal to a part of recorded arguments. What is compared, joined or counted with stays the
 * program's own.
 */
export function inferInputs(program: string, args: readonly JsonValue[]): readonly InputLiteral[] {
  const given = new Set(args.flatMap(leavesOf));
  const found = literalsOf(program).filter(({ value, name }) => name !== "" && given.has(value));
  const inputs = new Map<string, { name: string; value: string | number; places: number[] }>();
  for (const { index, value, name } of found) {
    const known = [...inputs.values()].find((input) => input.value === value);
    if (known !== undefined) known.places.push(index);
    else inputs.set(freeName(name, inputs), { name: freeName(name, inputs), value, places: [index] });
  }
  return [...inputs.values()];
}

/** The text with `inputs.<name>` in the place of these literals; also a text that is the same but for what literals say. */
export function withInputs(program: string, inputs: readonly InputLiteral[]): string {
  const names = new Map(inputs.flatMap(({ name, places }) => places.map((index) => [index, name] as const)));
  const replaced = literalsOf(program).filter(({ index }) => names.has(index)).sort((a, b) => b.from - a.from);
  return replaced.reduce((text, { from, to, index }) => `${text.slice(0, from)}inputs.${names.get(index) ?? ""}${text.slice(to)}`, program);
}

/** The values of all literals of a text. */
export function literalValues(program: string): readonly (string | number)[] {
  return literalsOf(program).map(({ value }) => value);
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}_${number}`)) number += 1;
  return `${name}_${number}`;
}

const typescript = parser.configure({ dialect: "ts" });

function literalsOf(program: string): readonly Literal[] {
  const literals: Literal[] = [];
  typescript.parse(program).iterate({
    enter({ name: kind, from, to, node }) {
      if (kind !== "String" && kind !== "Number") return;
      const value = valueOf(program.slice(from, to), kind);
      if (value === undefined) return;
      literals.push({ from, to, index: literals.length, value, name: nameOf(node, program) });
    },
  });
  return literals;
}

type Node = ReturnType<typeof typescript.parse>["topNode"];

/** What the literal is called where it stands; empty where it is not given as it is. */
function nameOf(node: Node, program: string): string {
  const parent = node.parent;
  if (parent === null) return "";
  if (parent.name === "ArrayExpression") return nameOf(parent, program);
  const key = parent.name === "Property" ? parent.getChild("PropertyDefinition") : parent.name === "VariableDeclaration" ? parent.getChild("VariableDefinition") : null;
  if (key === null || key.to > node.from) return "";
  return program.slice(key.from, key.to).replace(/[^\w]/g, "_").replace(/^(?=\d)/, "_");
}

function valueOf(text: string, kind: "String" | "Number"): string | number | undefined {
  if (kind === "Number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (text.startsWith('"')) {
    try {
      return JSON.parse(text) as string;
    } catch {
      return undefined;
    }
  }
  const inner = text.slice(1, -1);
  return inner.includes("\\") ? undefined : inner;
}

function leavesOf(value: JsonValue): readonly (string | number)[] {
  if (typeof value === "string" || typeof value === "number") return [value];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => leavesOf(item));
  return isPlainObject(value) ? Object.values(value).flatMap((item) => leavesOf(item as JsonValue)) : [];
}
