import { realpathSync, renameSync, statSync, writeFileSync } from "node:fs";
import { applyEdits, modify } from "jsonc-parser";

/**
 * The text of a configuration in JSON with a value put in, changed or (undefined) taken out. Everything else, comments and
 * the way it is laid out too, stays as it is.
 *
 * @param path of keys that lead to it; those that are missing are made
 */
export function editJsonc(text: string, path: readonly string[], value: unknown): string {
  const begun = text.trim() === "" ? "{}\n" : text;
  return applyEdits(begun, modify(begun, [...path], value, { formattingOptions: { ...indentOf(begun), eol: begun.includes("\r\n") ? "\r\n" : "\n" } }));
}

function indentOf(text: string): { readonly insertSpaces: boolean; readonly tabSize: number } {
  const [, indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  return indent.startsWith("\t") ? { insertSpaces: false, tabSize: 1 } : { insertSpaces: true, tabSize: indent.length };
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
