import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { pyrightFolder } from "../pyright-folder.ts";

/** Both from 0; characters are UTF-16 units. */
export interface LanguagePosition {
  readonly line: number;
  readonly character: number;
}

/** What pyright says of a document; lines and columns from 0, in UTF-16 units. */
export interface PyrightFinding {
  /** 1 is an error, 2 a warning. */
  readonly severity?: number;
  /** `reportCallIssue`; none for syntax. */
  readonly code?: string | number;
  readonly message: string;
  readonly range: { readonly start: LanguagePosition; readonly end: LanguagePosition };
}

export interface LanguageServerOptions {
  /** Root of everything it may read: configuration and stubs. */
  readonly folder: string;
  /** Of its heap; past it the process dies, and only that process. */
  readonly memoryMiB: number;
}

/** One pyright process. */
export interface LanguageServer {
  /** Documents it has looked at. */
  readonly answered: number;
  readonly isAlive: boolean;
  /** Resident memory; undefined where the system does not tell (anything but Linux). */
  memoryMiB(): number | undefined;
  /** CPU time of the process so far, all its threads; undefined where the system does not tell. */
  cpuMs(): number | undefined;
  /** Keeps a document open, so that what it imports stays loaded. */
  hold(path: string, text: string): Promise<void>;
  /** Checks a text as if it were a file at `path`, which must be new: changing a known one costs ten times as much. */
  diagnose(path: string, text: string): Promise<readonly PyrightFinding[]>;
  /** Kills it; what was asked rejects. Idempotent. */
  end(): Promise<void>;
}

/** More output than this for one document is no list of findings. */
const maxAnswerBytes = 64 * 1024 * 1024;

/**
 * Starts pyright's language server with an empty environment: no variable of the host, and no Python to be found, so
 * that it reads nothing but its own typeshed and the folder.
 */
export function startLanguageServer({ folder, memoryMiB }: LanguageServerOptions): LanguageServer {
  const child = startProcess(folder, memoryMiB);
  const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const life = watchLife(child, connection);
  answerRequests(connection);
  connection.listen();
  let answered = 0;
  const ask = <Answer>(method: string, parameters: object): Promise<Answer> => Promise.race([connection.sendRequest<Answer>(method, parameters), life.ended]);
  const tell = async (method: string, parameters: object): Promise<void> => {
    if (!life.isAlive()) throw new Error("the language server stopped");
    await Promise.race([connection.sendNotification(method, parameters), life.ended]);
  };
  const open = (uri: string, text: string): Promise<void> => tell("textDocument/didOpen", { textDocument: { uri, languageId: "python", version: 1, text } });
  const rootUri = pathToFileURL(folder).href;
  const capabilities = { workspace: { configuration: true, didChangeWatchedFiles: { dynamicRegistration: true } }, textDocument: { diagnostic: { dynamicRegistration: false } } };
  const ready = ask("initialize", { processId: process.pid, rootUri, workspaceFolders: [{ uri: rootUri, name: "programs" }], capabilities }).then(() => tell("initialized", {}));
  // Told to whoever asks first.
  ready.catch(() => undefined);
  return {
    get answered() {
      return answered;
    },
    get isAlive() {
      return life.isAlive();
    },
    memoryMiB: () => residentMiB(child.pid),
    cpuMs: () => processCpuMs(child.pid),
    hold: (path, text) => ready.then(() => open(pathToFileURL(path).href, text)),
    async diagnose(path, text) {
      const uri = pathToFileURL(path).href;
      await ready;
      life.resetOutput();
      await open(uri, text);
      const report = await ask<{ readonly items?: readonly PyrightFinding[] }>("textDocument/diagnostic", { textDocument: { uri } });
      await tell("textDocument/didClose", { textDocument: { uri } });
      answered += 1;
      return report.items ?? [];
    },
    end: () => life.end(),
  };
}

type ServerProcess = ChildProcess & { readonly stdin: NonNullable<ChildProcess["stdin"]>; readonly stdout: NonNullable<ChildProcess["stdout"]> };

function startProcess(folder: string, memoryMiB: number): ServerProcess {
  const entry = join(pyrightFolder(), "dist/pyright-langserver.js");
  const child = spawn(process.execPath, [`--max-old-space-size=${memoryMiB}`, "--max-semi-space-size=8", entry, "--stdio"], {
    cwd: folder,
    // Without a PATH the system's own default is searched, so it names a place where nothing is.
    env: { PATH: join(folder, "none"), ...(process.env["SystemRoot"] === undefined ? {} : { SystemRoot: process.env["SystemRoot"] }) },
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  // An idle checker must not keep a process alive; it ends itself when its input does.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as { unref?: () => void }).unref?.();
  return child;
}

interface Life {
  isAlive(): boolean;
  /** Rejects when the process is gone. */
  readonly ended: Promise<never>;
  resetOutput(): void;
  end(): Promise<void>;
}

function watchLife(child: ServerProcess, connection: MessageConnection): Life {
  let alive = true;
  let bytes = 0;
  const exited = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  const stop = (reason: string): void => {
    if (!alive) return;
    alive = false;
    child.kill("SIGKILL");
    connection.dispose();
    ended.reject(new Error(reason));
  };
  child.once("exit", (code, signal) => {
    stop(`the language server ended (${signal ?? code ?? "unknown"})`);
    exited.resolve();
  });
  child.once("error", (error) => {
    stop(`the language server could not be started: ${error.message}`);
    exited.resolve();
  });
  child.stdin.on("error", () => stop("the language server closed its input"));
  child.stdout.on("error", () => stop("the language server closed its output"));
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > maxAnswerBytes) stop("the language server said too much");
  });
  connection.onError(() => stop("the language server cannot be understood"));
  return {
    isAlive: () => alive,
    ended: ended.promise,
    resetOutput: () => (bytes = 0),
    async end() {
      child.ref();
      stop("the language server was ended");
      await exited.promise;
    },
  };
}

/** It asks for settings, which the configuration file holds, and registers what nobody needs. */
function answerRequests(connection: MessageConnection): void {
  connection.onRequest((method: string, parameters: unknown) => {
    const items = method === "workspace/configuration" ? (parameters as { readonly items?: readonly unknown[] }).items : undefined;
    return items === undefined ? null : items.map(() => ({}));
  });
}

function residentMiB(pid: number | undefined): number | undefined {
  if (process.platform !== "linux" || pid === undefined) return undefined;
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** Of proc(5): fields 14 and 15, in hundredths of a second; the name in field 2 may hold blanks and brackets. */
function processCpuMs(pid: number | undefined): number | undefined {
  if (process.platform !== "linux" || pid === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}
