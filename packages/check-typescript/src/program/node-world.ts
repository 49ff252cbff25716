import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import type ts from "typescript";
import { declarationFile } from "./declaration-file.ts";
import { guestLibText, ownLibText } from "./guest-lib.ts";

/** What programs of Node have beside those of the embedded sandbox. */
export interface NodeWorld {
  /** Packages that may be imported, by name: what the sandbox mounts. */
  readonly packages: readonly string[];
  /** Folder of `@types/node`; undefined where there is none, and what Node has is then not checked. */
  readonly typesFolder: string | undefined;
}

/** Which modules beside `tools` a program may import. */
export interface HostModules {
  /** True where uses of Node's own modules are checked. */
  readonly isTyped: boolean;
  allows(specifier: string): boolean;
}

export function hostModules({ packages, typesFolder }: NodeWorld): HostModules {
  return {
    isTyped: typesFolder !== undefined,
    // A relative name is a file of the working folder.
    allows: (specifier) => isBuiltin(specifier) || /^\.\.?\//.test(specifier) || packages.some((name) => specifier === name || specifier.startsWith(`${name}/`)),
  };
}

/** Modules without declarations take any use. What is not allowed was refused before anything is looked up. */
const untypedModules = '\ndeclare module "*";\n';

/** Names of Node where nothing is known of their types; those every guest has are in the guest's own declarations. */
const untypedGlobals = ["process", "Buffer", "global", "require", "fetch", "Headers", "Request", "Response", "FormData", "Blob", "File", "AbortController", "AbortSignal", "Event", "EventTarget", "performance", "setImmediate", "clearImmediate", "navigator", "WebSocket", "MessageChannel", "BroadcastChannel", "ReadableStream", "WritableStream", "TransformStream", "CompressionStream", "DecompressionStream", "WebAssembly", "DOMException"];

/** The declarations of Node's world, in place of the embedded guest's. */
export function nodeDeclarations({ typesFolder }: NodeWorld): ts.SourceFile[] {
  if (typesFolder === undefined) return [declarationFile("/guest-lib.d.ts", `${guestLibText}${untypedModules}declare var ${untypedGlobals.map((name) => `${name}: any`).join(", ")};\n`)];
  const files = new Map<string, ts.SourceFile>();
  const add = (path: string): void => {
    if (files.has(path)) return;
    const text = readFileSync(join(typesFolder, path), "utf8");
    files.set(path, declarationFile(`/node/${path}`, text));
    for (const [, referred = ""] of text.matchAll(/^\/\/\/ *<reference path="([^"]+)" *\/>/gm)) add(join(dirname(path), referred));
  };
  add("index.d.ts");
  return [declarationFile("/guest-lib.d.ts", `${ownLibText}${untypedModules}`), ...files.values()];
}
