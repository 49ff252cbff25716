import type { JsonValue, ProgramLanguage } from "@callgate/contract";
import type { SyntaxNode } from "@lezer/common";
import { parser as javaScriptParser } from "@lezer/javascript";
import { parser as pythonParser } from "@lezer/python";
import { isPlainObject } from "../lib/is-plain-object.ts";

/** A literal of a program that stands for one of its inputs. */
export interface InputLiteral {
  /** What the program calls it: `inputs.<name>`, in Python `inputs["<name>"]`. */
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

/** A program's text and what it is written in. */
export interface ProgramSource {
  readonly text: string;
  readonly language: ProgramLanguage;
}

/**
 * The literals of a program that went into calls as they stand: the value of a property or of a named argument, an item of a
 * list in one, or what a name was declared with, equal to a part of recorded arguments. What is compared, joined or counted
 * with stays the program's own.
 */
export function inferInputs(program: ProgramSource, args: readonly JsonValue[]): readonly InputLiteral[] {
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

/** The text with its inputs in the place of these literals; also of a text that is the same but for what literals say. */
export function withInputs(program: ProgramSource, inputs: readonly InputLiteral[]): string {
  const names = new Map(inputs.flatMap(({ name, places }) => places.map((index) => [index, name] as const)));
  const replaced = literalsOf(program).filter(({ index }) => names.has(index)).sort((a, b) => b.from - a.from);
  const input = (name: string): string => (program.language === "python" ? `inputs[${JSON.stringify(name)}]` : `inputs.${name}`);
  return replaced.reduce((text, { from, to, index }) => `${text.slice(0, from)}${input(names.get(index) ?? "")}${text.slice(to)}`, program.text);
}

/** The values of all literals of a text. */
export function literalValues(program: ProgramSource): readonly (string | number)[] {
  return literalsOf(program).map(({ value }) => value);
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}_${number}`)) number += 1;
  return `${name}_${number}`;
}

const parsers = { typescript: javaScriptParser.configure({ dialect: "ts" }), python: pythonParser };

function literalsOf({ text, language }: ProgramSource): readonly Literal[] {
  const literals: Literal[] = [];
  const nameOf = language === "python" ? nameInPython : nameInJavaScript;
  parsers[language === "python" ? "python" : "typescript"].parse(text).iterate({
    enter({ name: kind, from, to, node }) {
      if (kind !== "String" && kind !== "Number") return;
      const value = valueOf(text.slice(from, to), kind);
      if (value === undefined) return;
      literals.push({ from, to, index: literals.length, value, name: identifier(nameOf(node, text)) });
    },
  });
  return literals;
}

function identifier(name: string): string {
  return name.replace(/[^\w]/g, "_").replace(/^(?=\d)/, "_");
}

/** What the literal is called where it stands; empty where it is not given as it is. */
function nameInJavaScript(node: SyntaxNode, text: string): string {
  const parent = node.parent;
  if (parent === null) return "";
  if (parent.name === "ArrayExpression") return nameInJavaScript(parent, text);
  const key = parent.name === "Property" ? parent.getChild("PropertyDefinition") : parent.name === "VariableDeclaration" ? parent.getChild("VariableDefinition") : null;
  return key === null || key.to > node.from ? "" : text.slice(key.from, key.to);
}

/** The same: a named argument, an entry of a dictionary, what a name is assigned. */
function nameInPython(node: SyntaxNode, text: string): string {
  const { parent, prevSibling } = node;
  if (parent === null) return "";
  if (parent.name === "ArrayExpression" || parent.name === "TupleExpression") return nameInPython(parent, text);
  const mark = parent.name === "DictionaryExpression" ? ":" : parent.name === "ArgList" || parent.name === "AssignStatement" ? "AssignOp" : undefined;
  if (prevSibling === null || prevSibling.name !== mark) return "";
  const before = prevSibling.prevSibling;
  const key = before?.name === "TypeDef" ? before.prevSibling : before;
  if (key === null || key === undefined || (key.name !== "VariableName" && key.name !== "String")) return "";
  return key.name === "String" ? text.slice(key.from + 1, key.to - 1) : text.slice(key.from, key.to);
}

function valueOf(text: string, kind: "String" | "Number"): string | number | undefined {
  if (kind === "Number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  // Neither prefixes nor three quotes of Python: what they say is not what stands there.
  if (!/^(["'`])[^]*\1$/.test(text) || /^(?:"""|''')/.test(text)) return undefined;
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
