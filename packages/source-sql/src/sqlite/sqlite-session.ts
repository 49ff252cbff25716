import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SqlSession } from "../session.ts";
import { SqlFault } from "../sql-fault.ts";
import { inTransaction } from "../transaction.ts";
import type { SqliteAnswer, SqliteAnswers, SqliteRequest } from "./sqlite-messages.ts";

/** Works from source and from dist: the entry has the extension of this file. */
const childPath = fileURLToPath(new URL(`./sqlite-child${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));

type Ask = <Kind extends SqliteRequest["ask"]>(request: Extract<SqliteRequest, { ask: Kind }>) => Promise<SqliteAnswers[Kind]>;

export interface SqliteSessionOptions {
  readonly file: string;
  readonly maxCellBytes: number;
}

/** Starts the process of a connection. It sees nothing of this one's environment. */
export async function startSqliteSession({ file, maxCellBytes }: SqliteSessionOptions): Promise<SqlSession> {
  const child = fork(childPath, [], { serialization: "advanced", env: {}, execArgv: ["--disable-warning=ExperimentalWarning"], stdio: ["ignore", "ignore", "ignore", "ipc"] });
  let isBroken = false;
  child.on("exit", () => (isBroken = true));
  child.on("error", () => (isBroken = true));
  const ask = askOver(child);
  const destroy = (): void => {
    isBroken = true;
    child.kill("SIGKILL");
  };
  try {
    await ask({ ask: "open", file, maxCellBytes });
  } catch (error) {
    destroy();
    throw error instanceof SqlFault ? new SqlFault({ kind: "unreachable", message: error.message, code: error.code, cause: error }) : error;
  }

  return {
    get isBroken() {
      return isBroken;
    },
    schema: () => ask({ ask: "schema" }),
    async query(statement) {
      const columns = await ask({ ask: "query", statement });
      let closed: Promise<undefined> | undefined;
      return {
        columns,
        read: (maxRows, maxBytes) => ask({ ask: "read", maxRows, maxBytes }),
        close: async () => {
          closed ??= isBroken ? Promise.resolve(undefined) : ask({ ask: "close-query" });
          await closed;
        },
      };
    },
    describe: (text) => ask({ ask: "describe", text }),
    check: (text) => ask({ ask: "check", text }),
    transact: (work) =>
      inTransaction(
        {
          begin: () => ask({ ask: "begin" }),
          commit: () => ask({ ask: "commit" }),
          end: async () => {
            if (!isBroken) await ask({ ask: "rollback" }).catch(destroy);
          },
        },
        () => work((statement) => ask({ ask: "run", statement })),
      ),
    // There is no other way to stop it; what was not committed is rolled back by whoever opens the file next.
    cancel: () => Promise.resolve(destroy()),
    destroy,
  };
}

/** One question at a time, so that an answer needs no number. */
function askOver(child: ChildProcess): Ask {
  let last: Promise<unknown> = Promise.resolve();
  const exchange = async (request: SqliteRequest): Promise<unknown> => {
    if (!child.connected) throw new SqlFault({ kind: "lost", message: "its process has ended" });
    const over = new AbortController();
    const ended = once(child, "exit", { signal: over.signal }).then(() => {
      throw new SqlFault({ kind: "lost", message: "its process was ended" });
    });
    const answered = once(child, "message", { signal: over.signal });
    child.send(request, () => undefined);
    try {
      const [answer] = (await Promise.race([answered, ended])) as [SqliteAnswer];
      if (answer.kind === "answer") return answer.value;
      throw new SqlFault({ kind: answer.fault, message: answer.message, name: answer.name, code: answer.code });
    } finally {
      over.abort();
      await Promise.allSettled([answered, ended]);
    }
  };
  return ((request: SqliteRequest) => {
    const next = last.then(() => exchange(request));
    last = next.catch(() => undefined);
    return next;
  }) as Ask;
}
