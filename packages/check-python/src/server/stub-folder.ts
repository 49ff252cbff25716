import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NamespaceDeclaration } from "@callgate/contract";
import type { FunctionModule } from "../program/function-module.ts";

/** The stubs of one set of namespaces, on disk. */
export interface StubSet {
  readonly folder: string;
  /** A program that imports all of them; held open, it keeps them loaded. */
  readonly anchor: string;
}

/** The folder a language server reads: configuration, and stubs by set of namespaces. */
export interface StubFolder {
  readonly path: string;
  setOf(namespaces: readonly NamespaceDeclaration[]): StubSet;
  remove(): void;
}

/** What the guest has without an import, and what is in `tools` beside the namespaces; see sandbox-process. */
const builtins = `from typing import Any

class ToolError(Exception):
    code: str
    tool: str
    retryable: bool
    details: Any

class ToolNotFound(ToolError, AttributeError): ...

class _Results:
    def read(self, handle: str, **options: Any) -> Any: ...

results: _Results
def text(*parts: object) -> None: ...
def progress(message: object, fraction: float | None = None) -> None: ...
`;

const index = `from typing import Any
from . import aio as aio
def search(query: str, **options: Any) -> Any: ...
def describe(*names: str | list[str]) -> Any: ...
`;

/** Overloads of asyncio's own gather, which keeps each result's type. */
const waiting = "from asyncio import gather as gather\n";

/** Rules that say what fails at run time; which of them refuse is decided in program/severity.ts. */
function configuration(pythonVersion: string): string {
  return JSON.stringify({ pythonVersion, pythonPlatform: "Linux", typeCheckingMode: "standard", enableTypeIgnoreComments: false, reportUnusedCoroutine: "error", reportMissingModuleSource: "none", reportUnusedExpression: "none" });
}

export interface StubFolderOptions {
  readonly pythonVersion: string;
  /** Modules that lie beside every program. */
  readonly functions: readonly FunctionModule[];
}

export function createStubFolder({ pythonVersion, functions }: StubFolderOptions): StubFolder {
  const path = mkdtempSync(join(tmpdir(), "callgate-check-"));
  writeFileSync(join(path, "pyrightconfig.json"), configuration(pythonVersion));
  writeFileSync(join(path, "__builtins__.pyi"), builtins);
  const known = new Map<string, StubSet>();
  return {
    path,
    setOf(namespaces) {
      const hash = createHash("sha256");
      for (const { namespace, digest } of namespaces) hash.update(`${namespace}\n${digest}\n`);
      const key = hash.digest("hex").slice(0, 32);
      const found = known.get(key) ?? writeSet(join(path, key), namespaces, functions);
      known.set(key, found);
      return found;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function writeSet(folder: string, namespaces: readonly NamespaceDeclaration[], functions: readonly FunctionModule[]): StubSet {
  const tools = join(folder, "tools");
  mkdirSync(join(tools, "aio"), { recursive: true });
  const imports = namespaces.map(({ namespace }) => `from . import ${namespace} as ${namespace}\n`).join("");
  for (const { namespace, text } of namespaces) {
    writeFileSync(join(tools, `${namespace}.pyi`), text);
    writeFileSync(join(tools, "aio", `${namespace}.pyi`), asyncStub(text));
  }
  writeFileSync(join(tools, "__init__.pyi"), `${builtins}${imports}${index}`);
  writeFileSync(join(tools, "aio/__init__.pyi"), `${imports}${waiting}`);
  for (const { module, text } of functions) writeFileSync(join(folder, `${module}.py`), text);
  const names = namespaces.map(({ namespace }) => namespace);
  return { folder, anchor: ["import tools, tools.aio, asyncio, json, re, datetime, collections, typing\n", ...names.map((name) => `import tools.${name}, tools.aio.${name}\n`), ...functions.map(({ module }) => `import ${module}\n`)].join("") };
}

/** Only the printer's own functions start a line with `def`, and only its paged tools have these members: what a description says is indented. */
function asyncStub(text: string): string {
  return text
    .replace(/^def /gm, "async def ")
    .replace(/^    def __call__\(self/gm, "    async def __call__(self")
    .replace(/^(    def pages\(self.*\) -> )Iterator\[/gm, "$1AsyncIterator[");
}
