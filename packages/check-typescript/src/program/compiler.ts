import { basename } from "node:path/posix";
import ts from "./typescript.cjs";
import { declarationFile } from "./declaration-file.ts";
import type { Environment } from "./environment.ts";
import { guestLibText } from "./guest-lib.ts";
import { readLanguageLibs } from "./language-lib.ts";
import { nodeDeclarations } from "./node-world.ts";
import type { NodeWorld } from "./node-world.ts";

/** How a program is read: TypeScript, or JavaScript with the leniency TypeScript has for it. */
export type Flavour = "ts" | "js";

export interface Compiled {
  readonly program: ts.Program;
  readonly checker: ts.TypeChecker;
  readonly file: ts.SourceFile;
  readonly flavour: Flavour;
}

export interface Compiler {
  /** Parses with the options every program is parsed with; parents are set. */
  parse(text: string, flavour: Flavour): ts.SourceFile;
  /** A program of one parsed file among the declarations of an environment. Nothing is checked until something is asked. */
  compile(file: ts.SourceFile, flavour: Flavour, environment: Environment): Compiled;
}

const guestLibName = "/guest-lib.d.ts";
const libFolder = "/lib";

const sharedOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  types: [],
  noEmit: true,
  noResolve: true,
  skipLibCheck: true,
  strict: true,
  // A caught value may be anything, and programs read `error.code` of it.
  useUnknownInCatchVariables: false,
  noImplicitThis: false,
  strictPropertyInitialization: false,
  strictBuiltinIteratorReturn: false,
  allowUnreachableCode: true,
  allowUnusedLabels: true,
  isolatedModules: false,
};
// Without noImplicitAny TypeScript types `[]` as never[], so it stays on and its findings are left out; for JavaScript
// it is off, which is what makes `{}` and `[]` open there.
const optionsOf: Readonly<Record<Flavour, ts.CompilerOptions>> = {
  ts: sharedOptions,
  js: { ...sharedOptions, allowJs: true, checkJs: true, noImplicitAny: false },
};

const programName: Readonly<Record<Flavour, string>> = { ts: "/program.ts", js: "/program.js" };

/** What V8 has that the embedded engine lacks, and what the declarations of Node refer to. */
const nodeLibs = ["es2024", "es2025", "esnext.disposable"];

/**
 * Keeps parsed and bound declarations, and the last program of each flavour, so that a check costs what the program costs.
 *
 * @param node for programs that run in Node
 */
export function createCompiler(node?: NodeWorld): Compiler {
  const libs = [...readLanguageLibs(node === undefined ? [] : nodeLibs)].map(([name, text]) => declarationFile(`${libFolder}/${name}`, text));
  const lib = libs.map(({ fileName }) => basename(fileName));
  const world = node === undefined ? [declarationFile(guestLibName, guestLibText)] : nodeDeclarations(node);
  const last: Partial<Record<Flavour, ts.Program>> = {};

  return {
    parse: (text, flavour) => ts.createSourceFile(programName[flavour], text, { languageVersion: ts.ScriptTarget.ES2023, jsDocParsingMode: ts.JSDocParsingMode.ParseNone }, true, flavour === "ts" ? ts.ScriptKind.TS : ts.ScriptKind.JS),
    compile(file, flavour, environment) {
      const files = new Map<string, ts.SourceFile>([...world.map((declared) => [declared.fileName, declared] as const), [programName[flavour], file]]);
      for (const declarations of environment.files) files.set(declarations.fileName, declarations);
      const rootNames = [...files.keys()];
      for (const declarations of libs) files.set(declarations.fileName, declarations);
      const host: ts.CompilerHost = {
        getSourceFile: (fileName) => files.get(fileName),
        getDefaultLibFileName: () => `${libFolder}/lib.d.ts`,
        getDefaultLibLocation: () => libFolder,
        getCurrentDirectory: () => "/",
        getCanonicalFileName: (fileName) => fileName,
        useCaseSensitiveFileNames: () => true,
        getNewLine: () => "\n",
        fileExists: (fileName) => files.has(fileName),
        readFile: () => undefined,
        directoryExists: () => false,
        writeFile: () => undefined,
      };
      // The module indicator is what makes the file a module; `force` is applied by the program only when it parses itself.
      const program = ts.createProgram({ rootNames, options: { ...optionsOf[flavour], lib }, host, ...(last[flavour] === undefined ? {} : { oldProgram: last[flavour] }) });
      last[flavour] = program;
      return { program, checker: program.getTypeChecker(), file, flavour };
    },
  };
}
