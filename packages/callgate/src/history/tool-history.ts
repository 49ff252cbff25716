import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Digest } from "@callgate/contract";
import type { KeptTool } from "@callgate/runtime/catalog";
import { makePrivateFolder } from "@callgate/runtime/journal";
import { digestOf } from "@callgate/runtime/journal-parts";

/** The tools of a namespace from some time on. */
export interface ToolMoment {
  readonly atMs: number;
  /** Of all of them. */
  readonly digest: Digest;
  readonly tools: readonly KeptTool[];
}

/**
 * What the tools of a gate were: a file of lines for each namespace, one for each time that something had changed. It is kept
 * per folder of a configuration, for two of them may use one name for different sources.
 */
export interface ToolHistory {
  /** Notes the tools there are; nothing is written where they are as they were. What cannot be written is told to `onFault`. */
  note(namespace: string, tools: readonly KeptTool[]): void;
  /** Oldest first. */
  moments(namespace: string): readonly ToolMoment[];
  namespaces(): readonly string[];
}

export interface ToolHistoryOptions {
  readonly stateFolder: string;
  /** Of the configuration. */
  readonly folder: string;
  readonly nowMs: () => number;
  readonly onFault?: ((fault: unknown) => void) | undefined;
}

/** What changed: tools that are new or other, and the names of those that are gone. */
interface Line {
  readonly atMs: number;
  readonly set: readonly KeptTool[];
  readonly gone: readonly string[];
}

/** A history that is longer starts anew from where it stands: what was before is forgotten. */
const maxBytes = 32 * 1024 * 1024;

/** One for a folder of tools, in the folder where the gate keeps its own files. */
export function createToolHistory({ stateFolder, folder, nowMs, onFault }: ToolHistoryOptions): ToolHistory {
  const place = join(stateFolder, "tool-history", createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 16));
  const fileOf = (namespace: string): string => join(place, `${namespace}.jsonl`);
  // What is there is read only where the digest of its end is another.
  const headOf = (namespace: string): string => join(place, `${namespace}.head`);

  function moments(namespace: string): readonly ToolMoment[] {
    const file = fileOf(namespace);
    return existsSync(file) ? unfold(readFileSync(file, "utf8")) : [];
  }

  function write(namespace: string, tools: readonly KeptTool[]): void {
    const digest = digestOfTools(tools);
    if (existsSync(headOf(namespace)) && readFileSync(headOf(namespace), "utf8") === digest) return;
    makePrivateFolder(place);
    const last = moments(namespace).at(-1);
    if (last?.digest !== digest) append(namespace, { atMs: nowMs(), ...changesBetween(last?.tools ?? [], tools) }, tools);
    replaceFile(headOf(namespace), digest);
  }

  function append(namespace: string, line: Line, tools: readonly KeptTool[]): void {
    const file = fileOf(namespace);
    const isLong = existsSync(file) && statSync(file).size > maxBytes;
    if (isLong) replaceFile(file, JSON.stringify({ atMs: line.atMs, set: tools, gone: [] } satisfies Line));
    // The line before may have been cut off.
    else appendFileSync(file, `\n${JSON.stringify(line)}`, { mode: 0o600 });
  }

  return {
    note(namespace, tools) {
      try {
        write(namespace, tools);
      } catch (fault) {
        onFault?.(fault);
      }
    },
    moments,
    namespaces: () => (existsSync(place) ? readdirSync(place).filter((name) => name.endsWith(".jsonl")).map((name) => name.slice(0, -".jsonl".length)).sort() : []),
  };
}

/** What another process reads is whole. */
function replaceFile(file: string, text: string): void {
  const next = `${file}.${process.pid}`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, file);
}

function digestOfTools(tools: readonly KeptTool[]): Digest {
  return digestOf(tools.map(({ name, definitionDigest, interfaceDigest }) => [name, definitionDigest, interfaceDigest]).sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)));
}

function changesBetween(before: readonly KeptTool[], after: readonly KeptTool[]): Omit<Line, "atMs"> {
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const names = new Set(after.map(({ name }) => name));
  return {
    set: after.filter(({ name, definitionDigest, interfaceDigest }) => known.get(name)?.definitionDigest !== definitionDigest || known.get(name)?.interfaceDigest !== interfaceDigest),
    gone: before.flatMap(({ name }) => (names.has(name) ? [] : [name])),
  };
}

function unfold(text: string): readonly ToolMoment[] {
  const tools = new Map<string, KeptTool>();
  return text.split("\n").flatMap((written): readonly ToolMoment[] => {
    const line = readLine(written);
    if (line === undefined) return [];
    for (const tool of line.set) tools.set(tool.name, tool);
    for (const name of line.gone) tools.delete(name);
    const all = [...tools.values()];
    return [{ atMs: line.atMs, digest: digestOfTools(all), tools: all }];
  });
}

/** A process that was killed while it wrote leaves half a line: the next one that looks notes the same again. */
function readLine(written: string): Line | undefined {
  try {
    return written === "" ? undefined : (JSON.parse(written) as Line);
  } catch {
    return undefined;
  }
}
