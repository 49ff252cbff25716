import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { CallgateError, ToolError } from "@callgate/contract";
import type { Source, SourceListing, SourceProblem, SourceState, Tool } from "@callgate/contract";
import { isTool } from "@callgate/runtime/source";
import { loadFault } from "../load-fault.ts";
import { resolveOwnPackagesFor } from "./own-packages.ts";

const extensions = new Set([".ts", ".mts", ".js", ".mjs"]);

/** An import of `callgate`, told from the text alone: nothing of a file that has none is ever loaded. */
const importsCallgate = /(?:from|import)\s*\(?\s*["']callgate["']/;

/**
 * The tool files of a folder, each as a source: its namespace is the file's name, its members the exported tools.
 *
 * The caller answers for trust: listing these sources runs the files. Files without an import of `callgate`, tests and
 * declarations are left out. A file that cannot be loaded is a source that is `down`; the others work.
 *
 * Errors: none; a folder that is not there has no sources.
 */
export function folderSources(folder: string): readonly Source[] {
  let isResolving = false;
  // One hook for all files of the folder: each would be asked at every import of the process.
  const prepare = () => {
    if (!isResolving) resolveOwnPackagesFor(folder);
    isResolving = true;
  };
  return toolFiles(folder).map((file) => fileSource(folder, file, prepare));
}

function toolFiles(folder: string): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name);
  } catch {
    return [];
  }
  return names
    .filter((name) => extensions.has(extname(name)) && !/\.(?:d|test|spec)\.[^.]+$/.test(name))
    .filter((name) => importsCallgate.test(readFileSync(join(folder, name), "utf8")))
    .sort();
}

function fileSource(folder: string, file: string, prepare: () => void): Source {
  const namespace = basename(file, extname(file));
  let state: SourceState = { kind: "connecting" };
  let loading: Promise<readonly Tool[]> | undefined;
  const load = () => {
    prepare();
    return (loading ??= loadTools(folder, file));
  };
  return {
    namespace,
    kind: "folder",
    get state() {
      return state;
    },
    async list(): Promise<SourceListing> {
      try {
        const tools = await load();
        state = { kind: "ready" };
        const problems: SourceProblem[] = tools.length === 0 ? [{ message: `${file} exports no tool; export what defineTool returns` }] : [];
        return { tools: tools.map((tool) => ({ tool, claimed: false })), problems };
      } catch (cause) {
        const { where, message } = await loadFault(join(folder, file), cause);
        const reason = `Cannot load ${join(basename(folder), file)}${where}: ${message}`;
        state = { kind: "down", reason, brief: `its file ${file} cannot be loaded` };
        throw new CallgateError("SOURCE_FAILED", reason, { cause });
      }
    },
    async call(name, args, context) {
      const tool = (await load()).find((candidate) => candidate.name === name);
      if (tool === undefined) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `${file} exports no tool "${name}"`, notApplied: true });
      return await tool.handler(args, context);
    },
    onChange: () => undefined,
    close: () => Promise.resolve(),
  };
}

async function loadTools(folder: string, file: string): Promise<readonly Tool[]> {
  const exported = (await import(pathToFileURL(join(folder, file)).href)) as Readonly<Record<string, unknown>>;
  const tools: Tool[] = [];
  for (const [exportName, value] of Object.entries(exported)) {
    if (isTool(value)) tools.push(value.name === "" ? { ...value, name: exportName } : value);
  }
  return tools;
}
