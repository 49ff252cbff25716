import { realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { applyEdits, findNodeAtLocation, modify, parseTree } from "jsonc-parser";
import type { Edit } from "jsonc-parser";

/**
 * The text of a configuration in JSON with a value put in, changed or (undefined) taken out. Everything else, comments and
 * the way it is laid out too, stays as it is.
 *
 * @param path of keys that lead to it; those that are missing are made
 */
export function editJsonc(text: string, path: readonly string[], value: unknown): string {
  const begun = text.trim() === "" ? "{}\n" : text;
  // Without its formatting, which would lay out what stands beside anew.
  const edits = modify(begun, [...path], value, {});
  return applyEdits(begun, value === undefined ? edits : edits.map((edit) => ({ ...edit, content: laidOut(edit, begun, path) })));
}

/** What is put in, as its surroundings are laid out: in the same line where those are, else in lines of its own. */
function laidOut({ offset, content }: Edit, text: string, path: readonly string[]): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = indentUnit(text);
  const indentHere = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";
  const [, comma = "", body = ""] = /^(,?)(.*)$/s.exec(content) ?? [];
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const isReplaced = tree !== undefined && findNodeAtLocation(tree, [...path]) !== undefined;
  const lines = (json: string, indent: string): string => json.replaceAll("\n", `${eol}${indent}`);
  if (isReplaced) return lines(JSON.stringify(JSON.parse(body), undefined, unit), indentHere);
  const property = JSON.parse(`{${body}}`) as unknown;
  const parent = tree === undefined ? undefined : path.map((_key, index) => findNodeAtLocation(tree, path.slice(0, path.length - 1 - index)) ?? undefined).find((node) => node !== undefined);
  const inside = parent === undefined ? "" : text.slice(parent.offset + 1, parent.offset + parent.length - 1);
  // One line that holds something already.
  if (comma !== "" && !inside.includes("\n")) return `, ${JSON.stringify(property, undefined, 1).replace(/\n\s*/g, " ").slice(2, -2)}`;
  const parentIndent = parent === undefined ? "" : (/^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", parent.offset - 1) + 1))?.[0] ?? "");
  const indent = comma === "" ? `${parentIndent}${unit}` : indentHere === "" ? unit : indentHere;
  const written = lines(JSON.stringify(property, undefined, unit).split("\n").slice(1, -1).map((line) => line.slice(unit.length)).join("\n"), indent);
  return `${comma}${eol}${indent}${written}${comma === "" && !inside.includes("\n") ? `${eol}${parentIndent}` : ""}`;
}

function indentUnit(text: string): string {
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  return indent.startsWith("\t") ? "\t" : indent;
}

/** Replaces a file at once: whoever reads it meanwhile reads the old one or the new one. Links and its mode stay. */
export function replaceFile(file: string, text: string): void {
  const place = existing(file);
  const draft = `${place.file}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode: place.mode });
  renameSync(draft, place.file);
}

function existing(file: string): { readonly file: string; readonly mode: number } {
  try {
    const real = realpathSync(file);
    return { file: real, mode: statSync(real).mode & 0o777 };
  } catch {
    return { file, mode: 0o644 };
  }
}
