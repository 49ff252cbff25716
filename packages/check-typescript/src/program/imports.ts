import { isBuiltin } from "node:module";
import ts from "./typescript.cjs";
import { advice, error, nearest, warning } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import { blanksFor } from "./edited-text.ts";
import type { Edit } from "./edited-text.ts";
import type { Environment, KnownNamespace } from "./environment.ts";
import { walk } from "./walk.ts";

/** One import, apart from the place it stood in. */
export interface ImportLine {
  /** As TypeScript, in one line, for the check. */
  readonly check: string;
  /** The same against `$callgate`; empty for types. */
  readonly run: string;
  /** Offset of the statement. */
  readonly offset: number;
}

export interface Imports {
  readonly lines: readonly ImportLine[];
  /** Take the imports out of the program's text. */
  readonly edits: readonly Edit[];
  readonly findings: readonly Finding[];
}

/** What to use instead of modules that are not there. */
const instead: readonly (readonly [RegExp, string])[] = [
  [/^(?:node:)?(?:fs|fs\/promises|path|os)$|^(?:fs-extra|glob)$/, "a program has no files; use a tool of a filesystem source, and find one with await tools.search(\"read a file\")"],
  [/^(?:axios|node-fetch|got|undici|ky|superagent|(?:node:)?https?|(?:node:)?net|ws)$/, "a program has no network; use a tool that makes the request, and find one with await tools.search(\"http request\")"],
  [/^(?:node:)?(?:child_process|cluster|worker_threads|process|vm|module)$|^(?:execa|shelljs)$/, "a program cannot start other programs; use a tool that does it"],
  [/^(?:node:)?crypto$|^uuid$/, "use the global crypto.randomUUID() or crypto.getRandomValues()"],
  [/^(?:node:)?url$/, "URL and URLSearchParams are global"],
  [/^(?:node:)?util$/, "TextEncoder, TextDecoder and structuredClone are global"],
  [/^(?:node:)?timers(?:\/promises)?$/, "setTimeout is global: await new Promise((done) => setTimeout(done, ms))"],
  [/^(?:node:)?buffer$/, "use Uint8Array, TextEncoder, atob and btoa"],
  [/^(?:pg|mysql2?|sqlite3|better-sqlite3|mongodb|redis|ioredis|@prisma\/client|(?:node:)?sqlite)$/, "a program has no database driver; use a tool of a database source"],
  [/^(?:openai|@anthropic-ai\/sdk|ai|@ai-sdk\/.*|langchain|@langchain\/.*)$/, "use a tool that asks a model, if the catalog has one"],
  [/^(?:lodash|lodash-es|underscore|ramda)(?:\/.*)?$/, "write it with the methods of Array, Object, Map and Set"],
  [/^(?:dayjs|moment|date-fns|luxon)(?:\/.*)?$/, "use Date"],
];

/** Only `tools` and `tools/<namespace>` can be imported, and in Node what its world has. */
function refuseModule(specifier: string, offset: number, environment: Environment): Finding {
  if (specifier.startsWith("tools/")) {
    const wanted = specifier.slice("tools/".length);
    const away = environment.unavailable.get(wanted);
    if (away !== undefined) return error("SOURCE_UNAVAILABLE", offset, away);
    const near = nearest(wanted, environment.namespaces.keys()).names;
    return error("IMPORT_NOT_FOUND", offset, { message: `There is no module "${specifier}"${near.length > 0 ? `; did you mean "tools/${near[0] ?? ""}"?` : `. ${namespaceList(environment)}`}`, suggestions: near.map((name) => `tools/${name}`) });
  }
  const hint = instead.find(([pattern]) => pattern.test(specifier))?.[1];
  const namespaceHint = environment.namespaces.has(specifier) ? `the namespace is "tools/${specifier}"` : undefined;
  const allowed = environment.modules === undefined ? 'only "tools" and "tools/<namespace>" can be imported' : 'only "tools", modules of Node, files of the working folder and packages that are named in node.packages can be imported';
  return error("IMPORT_NOT_ALLOWED", offset, { message: `Cannot import "${specifier.slice(0, 100)}": ${allowed}; ${namespaceHint ?? (environment.modules === undefined ? hint : undefined) ?? "use a tool or write it out"}`, ...(namespaceHint === undefined ? {} : { suggestions: [`tools/${specifier}`] }) });
}

export function namespaceList(environment: Environment): string {
  const names = [...environment.namespaces.keys()];
  if (names.length === 0) return "No tools are available";
  return `Namespaces: ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
}

/** Reads the imports at the top level of a program and what it may not import anywhere. */
export function readImports(file: ts.SourceFile, statements: readonly ts.Statement[], environment: Environment): Imports {
  const lines: ImportLine[] = [];
  const edits: Edit[] = [];
  const findings: Finding[] = [];
  for (const statement of statements) {
    if (ts.isImportEqualsDeclaration(statement)) {
      findings.push(error("IMPORT_FORM", statement.getStart(file), 'Write import * as name from "tools/<namespace>" instead of import name = require(...)'));
    } else if (ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined) {
      findings.push(error("IMPORT_FORM", statement.getStart(file), "A program cannot export from another module; import what you need and return a value"));
    } else if (ts.isImportDeclaration(statement)) {
      const start = statement.getStart(file);
      edits.push({ start, end: statement.end, text: blanksFor(file.text.slice(start, statement.end)) });
      const line = readImport(statement, start, environment);
      if ("severity" in line) findings.push(line);
      else lines.push(line);
    }
  }
  return { lines, edits, findings: [...findings, ...dynamicImports(file, environment), ...untypedNote(file, environment)] };
}

/** Said once, where a program uses what is not checked. */
function untypedNote(file: ts.SourceFile, { modules }: Environment): Finding[] {
  if (modules === undefined || modules.isTyped) return [];
  let first: ts.Node | undefined;
  walk(file, (node) => {
    if (first === undefined && ts.isStringLiteralLike(node) && (node.text.startsWith("node:") || (ts.isImportDeclaration(node.parent) && isBuiltin(node.text)))) first = node;
  });
  return first === undefined ? [] : [advice("NODE_TYPES_MISSING", first.getStart(file), "What the program does with Node's own modules is not checked: their types are not here. npm i -D @types/node, beside the configuration")];
}

function readImport(statement: ts.ImportDeclaration, offset: number, environment: Environment): ImportLine | Finding {
  const specifier = ts.isStringLiteral(statement.moduleSpecifier) ? statement.moduleSpecifier.text : "";
  const namespace = specifier.startsWith("tools/") ? environment.namespaces.get(specifier.slice("tools/".length)) : undefined;
  const clause = statement.importClause;
  if (specifier !== "tools" && namespace === undefined) return environment.modules?.allows(specifier) === true ? hostImport(clause, specifier, offset) : refuseModule(specifier, offset, environment);
  if (clause === undefined) return { check: "", run: "", offset };
  const target = namespace === undefined ? "$callgate.tools" : `$callgate.tools.${namespace.namespace}`;
  if (clause.name !== undefined) {
    const { text } = clause.name;
    const fix = namespace === undefined ? `import { ${environment.namespaces.has(text) ? text : "<namespace>"} } from "tools", or use the global tools` : `import * as ${text} from "${specifier}"`;
    return error("IMPORT_FORM", offset, { message: `"${specifier}" has no default export; write ${fix}`, suggestions: [fix] });
  }
  const bindings = clause.namedBindings;
  const onlyTypes = clause.phaseModifier === ts.SyntaxKind.TypeKeyword;
  const types = onlyTypes ? "type " : "";
  if (bindings === undefined) return { check: "", run: "", offset };
  if (ts.isNamespaceImport(bindings)) {
    return { check: `import ${types}* as ${bindings.name.text} from "${specifier}";`, run: onlyTypes ? "" : `const ${bindings.name.text} = ${target};`, offset };
  }
  return readNamed(bindings, { specifier, namespace, target, onlyTypes, offset, environment });
}

/** A module of Node, a package, a file: the same import for the check, and at run time what Node's own loader gives. */
function hostImport(clause: ts.ImportClause | undefined, specifier: string, offset: number): ImportLine {
  const from = JSON.stringify(specifier);
  const module = `await $callgate.import(${from})`;
  if (clause === undefined) return { check: `import ${from};`, run: `${module};`, offset };
  const isType = clause.phaseModifier === ts.SyntaxKind.TypeKeyword;
  const { name, namedBindings } = clause;
  const whole = namedBindings !== undefined && ts.isNamespaceImport(namedBindings) ? namedBindings.name.text : undefined;
  const elements = namedBindings !== undefined && ts.isNamedImports(namedBindings) ? namedBindings.elements : [];
  const named = elements.map((element) => ({ wanted: (element.propertyName ?? element.name).text, local: element.name.text, isType: element.isTypeOnly }));
  const said = [
    ...(name === undefined ? [] : [name.text]),
    ...(whole === undefined ? [] : [`* as ${whole}`]),
    ...(namedBindings !== undefined && ts.isNamedImports(namedBindings) ? [`{ ${named.map((one) => `${one.isType ? "type " : ""}${one.wanted} as ${one.local}`).join(", ")} }`] : []),
  ];
  const values = [...(name === undefined ? [] : [`default: ${name.text}`]), ...named.filter((one) => !one.isType).map((one) => `${one.wanted}: ${one.local}`)];
  const run = [...(whole === undefined ? [] : [`const ${whole} = ${module};`]), ...(values.length === 0 ? [] : [`const { ${values.join(", ")} } = ${module};`])];
  return { check: `import ${isType ? "type " : ""}${said.join(", ")} from ${from};`, run: isType ? "" : run.join(" "), offset };
}

interface NamedImport {
  readonly specifier: string;
  readonly namespace: KnownNamespace | undefined;
  readonly target: string;
  readonly onlyTypes: boolean;
  readonly offset: number;
  readonly environment: Environment;
}

/** What the module `tools` has beside its namespaces. */
const ownMembers = ["search", "describe", "sleep", "waitFor"];

function readNamed(bindings: ts.NamedImports, named: NamedImport): ImportLine | Finding {
  const { specifier, namespace, target, environment } = named;
  const values = namespace === undefined ? new Set([...environment.namespaces.keys(), ...ownMembers]) : new Set(namespace.tools.keys());
  const types = namespace === undefined ? new Set<string>() : typeNames(namespace.file);
  const check: string[] = [];
  const run: string[] = [];
  for (const element of bindings.elements) {
    const wanted = (element.propertyName ?? element.name).text;
    const local = element.name.text;
    const isType = named.onlyTypes || element.isTypeOnly;
    if (!values.has(wanted) && !types.has(wanted)) return missingExport(wanted, element.getStart(), { ...named, isType, candidates: [...values, ...types] });
    check.push(`${isType ? "type " : ""}${wanted === local ? local : `${wanted} as ${local}`}`);
    if (!isType && values.has(wanted)) run.push(wanted === local ? local : `${wanted}: ${local}`);
  }
  if (check.length === 0) return { check: "", run: "", offset: named.offset };
  return { check: `import { ${check.join(", ")} } from "${specifier}";`, run: run.length === 0 ? "" : `const { ${run.join(", ")} } = ${target};`, offset: named.offset };
}

function missingExport(wanted: string, offset: number, named: NamedImport & { readonly isType: boolean; readonly candidates: readonly string[] }): Finding {
  const { specifier, namespace, environment, candidates } = named;
  if (named.isType) return warning("TYPE_NOT_FOUND", offset, `"${specifier}" exports no type ${wanted}; types are inferred, leave it out`);
  const away = namespace === undefined ? environment.unavailable.get(wanted) : undefined;
  if (away !== undefined) return error("SOURCE_UNAVAILABLE", offset, away);
  if (namespace?.namespace === wanted) return error("IMPORT_NOT_FOUND", offset, { message: `Write import * as ${wanted} from "${specifier}", or import { ${wanted} } from "tools"`, suggestions: [`import * as ${wanted} from "${specifier}"`] });
  const owners = namespace === undefined ? [...environment.namespaces.values()].filter(({ tools }) => tools.has(wanted)).map((known) => known.namespace) : [];
  if (owners.length > 0) return error("IMPORT_NOT_FOUND", offset, { message: `${wanted} is a tool of ${owners.join(" and ")}; write import { ${wanted} } from "tools/${owners[0] ?? ""}"`, suggestions: owners.map((owner) => `tools/${owner}`) });
  const near = nearest(wanted, candidates).names;
  return error("IMPORT_NOT_FOUND", offset, { message: `"${specifier}" has no ${wanted}${near.length > 0 ? `; did you mean ${near.join(" or ")}?` : `. ${namespace === undefined ? namespaceList(environment) : "Find tools with await tools.search(\"what it should do\")"}`}`, suggestions: near });
}

/** Interfaces and aliases a namespace's module declares. */
function typeNames(file: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  for (const statement of file.statements) {
    if (!ts.isModuleDeclaration(statement) || statement.body === undefined || !ts.isModuleBlock(statement.body)) continue;
    for (const member of statement.body.statements) if (ts.isInterfaceDeclaration(member) || ts.isTypeAliasDeclaration(member)) names.add(member.name.text);
  }
  return names;
}

function dynamicImports(file: ts.SourceFile, environment: Environment): Finding[] {
  const findings: Finding[] = [];
  walk(file, (node) => {
    if (ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword) findings.push(error("IMPORT_META", node.getStart(file), "A program has no import.meta: it has no file and no address"));
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      const { text } = node.argument.literal;
      if (!isImportable(text, environment)) findings.push(refuseModule(text, node.getStart(file), environment));
    }
    if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return;
    const [specifier, ...rest] = node.arguments;
    const offset = node.getStart(file);
    if (specifier === undefined || !ts.isStringLiteralLike(specifier) || rest.length > 0) findings.push(error("IMPORT_DYNAMIC", offset, 'import() takes one literal, "tools" or "tools/<namespace>"; for a tool whose name is computed use tools[namespace][name]'));
    else if (!isImportable(specifier.text, environment)) findings.push(refuseModule(specifier.text, offset, environment));
  });
  return findings;
}

function isImportable(specifier: string, environment: Environment): boolean {
  return specifier === "tools" || (specifier.startsWith("tools/") && environment.namespaces.has(specifier.slice("tools/".length))) || environment.modules?.allows(specifier) === true;
}
