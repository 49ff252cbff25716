import ts from "./typescript.cjs";

/** Parsed once, bound by its first program and shared by all later ones. */
export function declarationFile(fileName: string, text: string): ts.SourceFile {
  return ts.createSourceFile(fileName, text, { languageVersion: ts.ScriptTarget.ES2023, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }, false, ts.ScriptKind.TS);
}
