import type { SyntaxNode } from "@lezer/common";
import { error, nearest } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import type { Environment } from "./environment.ts";
import { childrenOf, textOf } from "./python-tree.ts";
import type { PythonTree } from "./python-tree.ts";

/** One name that an import brings in. */
export interface ImportedName {
  /** `a.b`; starts with a dot when relative. */
  readonly module: string;
  /** What is taken out of it: a name or `*`; undefined for `import a.b`. */
  readonly member?: string;
  /** What it is called in the program. */
  readonly local: string;
  /** Whether `as` named it. */
  readonly isRenamed: boolean;
  readonly offset: number;
  readonly memberOffset: number;
}

export function importedNames(tree: PythonTree): ImportedName[] {
  return tree.imports.flatMap((statement) => (statement.firstChild?.name === "from" ? fromImport(statement, tree) : plainImport(statement, tree)));
}

function fromImport(statement: SyntaxNode, tree: PythonTree): ImportedName[] {
  const children = childrenOf(statement);
  const at = children.findIndex(({ name }) => name === "import");
  const path = children.slice(1, at < 0 ? undefined : at);
  const module = path.map((node) => textOf(node, tree)).join("");
  const offset = path[0]?.from ?? statement.from;
  const names = children.slice(at < 0 ? children.length : at + 1);
  return names.flatMap((node, index): ImportedName[] => {
    if (node.name !== "*" && node.name !== "VariableName") return [];
    if (names[index - 1]?.name === "as") return [];
    const renamed = names[index + 1]?.name === "as" ? names[index + 2] : undefined;
    const member = textOf(node, tree);
    return [{ module, member, local: renamed === undefined ? member : textOf(renamed, tree), isRenamed: renamed !== undefined, offset, memberOffset: node.from }];
  });
}

function plainImport(statement: SyntaxNode, tree: PythonTree): ImportedName[] {
  const names: ImportedName[] = [];
  let path: SyntaxNode[] = [];
  let renamed: SyntaxNode | undefined;
  const finish = (): void => {
    const [first] = path;
    if (first === undefined) return;
    const module = path.map((node) => textOf(node, tree)).join("");
    names.push({ module, local: renamed === undefined ? textOf(first, tree) : textOf(renamed, tree), isRenamed: renamed !== undefined, offset: first.from, memberOffset: first.from });
    path = [];
    renamed = undefined;
  };
  let isNaming = false;
  for (const node of childrenOf(statement).slice(1)) {
    if (node.name === ",") finish();
    else if (node.name === "as") isNaming = true;
    else if (isNaming) {
      renamed = node;
      isNaming = false;
    } else path.push(node);
  }
  finish();
  return names;
}

/** What to use instead of well-known modules that no guest has. */
const instead: readonly (readonly [modules: readonly string[], advice: string])[] = [
  [["requests", "httpx", "aiohttp", "urllib3", "websockets", "paramiko", "boto3", "botocore", "google", "openai", "anthropic", "github", "slack_sdk", "stripe"], "A program has no network; what reaches other systems is a tool: from tools import <namespace>"],
  [["psycopg2", "psycopg", "pymysql", "sqlalchemy", "pymongo", "redis"], "A program reaches no database; read data through a tool: from tools import <namespace>"],
  [["yaml"], "Use json, or a tool that reads YAML"],
  [["dateutil", "pytz", "arrow", "pendulum"], "Use datetime and zoneinfo"],
  [["simplejson", "orjson", "ujson"], "Use json"],
  [["numpy"], "Use math, statistics and lists"],
  [["pandas", "polars"], "Use csv, statistics and lists of dictionaries"],
  [["bs4", "lxml"], "Use html.parser or xml.etree.ElementTree"],
  [["mcp", "callgate"], "Tools are imported from tools: from tools import <namespace>"],
];

/** Imports that are not on the list; each says what to use. */
export function findRefusedImports(names: readonly ImportedName[], environment: Environment): Finding[] {
  const seen = new Set<string>();
  return names.flatMap(({ module, offset }) => {
    const [root = ""] = module.split(".");
    if (root === "tools" || environment.modules.has(root) || seen.has(module)) return [];
    seen.add(module);
    return [refusal(module, root, { offset, environment })];
  });
}

function refusal(module: string, root: string, { offset, environment }: { readonly offset: number; readonly environment: Environment }): Finding {
  if (root === "") return error("IMPORT_NOT_ALLOWED", offset, `A program is one file: there is no module to import relative to it (${module})`);
  const away = environment.unavailable.get(root);
  if (away !== undefined) return error("SOURCE_UNAVAILABLE", offset, away);
  if (environment.namespaces.has(root)) return error("IMPORT_NOT_ALLOWED", offset, { message: `${root} is a namespace of tools: write from tools import ${root}`, suggestions: [`from tools import ${root}`] });
  const known = instead.find(([modules]) => modules.includes(root))?.[1];
  const near = nearest(root, [...environment.modules, "tools"]).names;
  const suggestions = known === undefined ? near.slice(0, 3) : [];
  const hint = known ?? (suggestions.length > 0 ? `Did you mean ${suggestions.join(" or ")}?` : "Use the standard library and tools");
  return error("IMPORT_NOT_ALLOWED", offset, { message: `The module ${root} cannot be imported here. ${hint}`, ...(suggestions.length > 0 ? { suggestions } : {}) });
}
