import { join } from "node:path";
import type { NamespaceDeclaration } from "@callgate/contract";
import { boundTime } from "@callgate/runtime/check-parts";
import type { CheckTime, TimedOut } from "@callgate/runtime/check-parts";
import { startLanguageServer } from "./language-server.ts";
import type { LanguageServer, PyrightFinding } from "./language-server.ts";
import type { FunctionModule } from "../program/function-module.ts";
import { createStubFolder } from "./stub-folder.ts";
import type { StubFolder, StubSet } from "./stub-folder.ts";

export interface ServerKeeperOptions {
  readonly pythonVersion: string;
  readonly functions: readonly FunctionModule[];
  readonly time: CheckTime;
  readonly memoryMiB: number;
  readonly recycleMiB: number;
  readonly recycleChecks: number;
}

export type ServerAnswer =
  | { readonly kind: "found"; readonly findings: readonly PyrightFinding[] }
  | TimedOut
  | { readonly kind: "aborted" }
  | { readonly kind: "died"; readonly message: string };

/** Keeps one working language server, whatever happens to it. Requests are made one at a time. */
export interface ServerKeeper {
  diagnose(text: string, namespaces: readonly NamespaceDeclaration[], signal: AbortSignal): Promise<ServerAnswer>;
  close(): Promise<void>;
}

/** A server and what it holds open. */
interface Served {
  readonly server: LanguageServer;
  readonly held: Set<string>;
}

/** Starting, and reading the standard library's stubs for the first program. */
const startupMs = 30_000;

/** The server that works, and the one that is warmed beside it. */
interface Servers {
  /** The one that works, started when there is none, with the set loaded. */
  serve(set: StubSet): Promise<Served>;
  /** Warms another, which takes over with the next program. */
  replace(set: StubSet): void;
  current(): Served | undefined;
  close(): Promise<void>;
}

function createServers(start: () => LanguageServer): Servers {
  let current: Served | undefined;
  let spare: { ready: Served | undefined } | undefined;
  let next = 1;
  let closed = false;
  const starting = new Set<Promise<unknown>>();

  const hold = async ({ server, held }: Served, set: StubSet): Promise<void> => {
    if (held.has(set.folder)) return;
    held.add(set.folder);
    await server.hold(join(set.folder, "anchor.py"), set.anchor);
    await server.diagnose(join(set.folder, `warm${next++}.py`), set.anchor);
  };
  const begin = async (set: StubSet): Promise<Served> => {
    const served = { server: start(), held: new Set<string>() };
    await hold(served, set);
    return served;
  };
  return {
    current: () => current,
    async serve(set) {
      if (spare?.ready !== undefined) {
        const retired = current;
        current = spare.ready;
        spare = undefined;
        retired?.server.end().catch(() => undefined);
      }
      if (current?.server.isAlive !== true) current = { server: start(), held: new Set() };
      await hold(current, set);
      return current;
    },
    replace(set) {
      if (spare !== undefined || closed) return;
      const made: { ready: Served | undefined } = { ready: undefined };
      spare = made;
      const work = begin(set)
        .then((served) => {
          made.ready = served;
          return closed ? served.server.end() : undefined;
        })
        .catch(() => {
          if (spare === made) spare = undefined;
        })
        .finally(() => starting.delete(work));
      starting.add(work);
    },
    async close() {
      closed = true;
      await Promise.all([current?.server.end(), spare?.ready?.server.end(), ...starting]);
    },
  };
}

export function createServerKeeper(options: ServerKeeperOptions): ServerKeeper {
  const { time, memoryMiB, recycleMiB, recycleChecks } = options;
  let folder: StubFolder | undefined;
  let next = 1;
  const folderOf = (): StubFolder => (folder ??= createStubFolder(options));
  const servers = createServers(() => startLanguageServer({ folder: folderOf().path, memoryMiB }));
  const ask = async (text: string, set: StubSet): Promise<readonly PyrightFinding[]> => {
    const { server } = await servers.serve(set);
    const findings = await server.diagnose(join(set.folder, `program${next++}.py`), text);
    if (server.answered >= recycleChecks || (server.memoryMiB() ?? 0) > recycleMiB) servers.replace(set);
    return findings;
  };

  return {
    async diagnose(text, namespaces, signal) {
      const set = folderOf().setOf(namespaces);
      const before = servers.current();
      const isCold = before?.server.isAlive !== true || !before.held.has(set.folder);
      const more = isCold ? startupMs : 0;
      const answer = await within(ask(text, set), { time: { cpuMs: time.cpuMs + more, wallMs: time.wallMs + more }, cpuMs: () => servers.current()?.server.cpuMs(), signal });
      // A server that did not answer in time is busy with that program until it is killed.
      if (answer.kind !== "found") await servers.current()?.server.end();
      return answer;
    },
    async close() {
      await servers.close();
      folder?.remove();
      folder = undefined;
    },
  };
}

function within(work: Promise<readonly PyrightFinding[]>, { time, cpuMs, signal }: { readonly time: CheckTime; readonly cpuMs: () => number | undefined; readonly signal: AbortSignal }): Promise<ServerAnswer> {
  return new Promise((resolve) => {
    const settle = (answer: ServerAnswer): void => {
      unwatch();
      signal.removeEventListener("abort", onAbort);
      resolve(answer);
    };
    const onAbort = (): void => settle({ kind: "aborted" });
    const unwatch = boundTime(time, () => Promise.resolve(cpuMs()), settle);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(
      (findings) => settle({ kind: "found", findings }),
      (thrown: unknown) => settle({ kind: "died", message: thrown instanceof Error ? thrown.message : "unknown" }),
    );
  });
}
