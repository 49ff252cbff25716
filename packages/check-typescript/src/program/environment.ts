import type { Effect, UnavailableNamespace } from "@callgate/contract";
import ts from "./typescript.cjs";
import { declarationFile } from "./declaration-file.ts";
import type { HostModules } from "./node-world.ts";

/** A namespace as it is kept: parsed once, found again by its key. */
export interface KnownNamespace {
  readonly namespace: string;
  readonly file: ts.SourceFile;
  /** Tool identifier within the namespace → effect. */
  readonly tools: ReadonlyMap<string, Effect>;
}

/** All that the programs of one catalog are checked against. */
export interface Environment {
  readonly files: readonly ts.SourceFile[];
  readonly namespaces: ReadonlyMap<string, KnownNamespace>;
  readonly indexFile: ts.SourceFile;
  /** Namespaces whose source cannot be reached: they are not declared, and what to say of them. */
  readonly unavailable: ReadonlyMap<string, string>;
  /** Modules beside `tools`; undefined where there are none. */
  readonly modules: HostModules | undefined;
  /** The namespace whose declarations a file holds. */
  namespaceOf(file: ts.SourceFile): KnownNamespace | undefined;
}

/**
 * Reads the declarations of one namespace.
 *
 * `unknown` becomes `any`: a tool that does not say what it returns must not make every use of it an error, and what
 * is unknown in an argument takes anything either way. Positions stay.
 */
export function knownNamespace(namespace: string, text: string, tools: ReadonlyMap<string, Effect>): KnownNamespace {
  const fileName = `/tools/${namespace}.d.ts`;
  const parsed = declarationFile(fileName, text);
  const places: number[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.UnknownKeyword) places.push(node.end - "unknown".length);
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  if (places.length === 0) return { namespace, file: parsed, tools };
  let loose = "";
  let done = 0;
  for (const place of places) {
    loose += `${text.slice(done, place)}any    `;
    done = place + "unknown".length;
  }
  return { namespace, file: declarationFile(fileName, loose + text.slice(done)), tools };
}

/** Puts namespaces together as the module `tools` and the global of that name. */
export function createEnvironment(namespaces: readonly KnownNamespace[], modules?: HostModules): Environment {
  const byName = new Map(namespaces.map((known) => [known.namespace, known]));
  const byFile = new Map(namespaces.map((known) => [known.file, known]));
  const indexFile = declarationFile("/tools.d.ts", indexText([...byName.keys()]));
  return { files: [...byFile.keys(), indexFile], namespaces: byName, indexFile, unavailable: new Map(), modules, namespaceOf: (file) => byFile.get(file) };
}

/** The same, where some sources cannot be reached just now. */
export function withUnavailable(environment: Environment, unavailable: readonly UnavailableNamespace[] = []): Environment {
  return unavailable.length === 0 ? environment : { ...environment, unavailable: new Map(unavailable.map(({ namespace, message }) => [namespace, message])) };
}

function indexText(namespaces: readonly string[]): string {
  return `declare module "tools" {
${namespaces.map((namespace) => `  export * as ${namespace} from "tools/${namespace}";`).join("\n")}
  interface FoundTool { name: string; namespace: string; line: string; signature: string; [key: string]: any }
  /** Tools that fit a description of what is wanted. */
  export function search(query: string, options?: { limit?: number; namespace?: string; detail?: "namespace" | "name" | "line" | "signature" | "full" }): Promise<FoundTool[]>;
  export function describe(names: string | readonly string[]): Promise<FoundTool[]>;
  /** As the globals of these names. */
  export function sleep(until: number | Date): Promise<void>;
  export function waitFor(event: string, options?: { timeoutMs?: number }): Promise<any>;
}
declare var tools: typeof import("tools");
`;
}
