import type { FaultKind } from "../sql-fault.ts";
import { SqlFault } from "../sql-fault.ts";

// https://mariadb.com/kb/en/mariadb-error-code-reference/ and MySQL's "Server Error Message Reference"; they share these numbers.
const kinds: ReadonlyMap<number, FaultKind> = new Map<number, FaultKind>([
  [1146, "unknown_table"],
  [1049, "sign_in"],
  [1054, "unknown_column"],
  [1064, "syntax"],
  [1295, "no_rows"],
  [1792, "read_only"],
  [1290, "denied"],
  [1044, "denied"],
  [1045, "sign_in"],
  [1698, "sign_in"],
  [1142, "denied"],
  [1143, "denied"],
  [1227, "denied"],
  [1370, "denied"],
  [1205, "conflict"],
  [1213, "conflict"],
  [1020, "conflict"],
  [1317, "cancelled"],
  [1969, "timeout"],
  [3024, "timeout"],
  [1153, "too_large"],
  [1210, "parameters"],
  [1040, "lost"],
  [1053, "lost"],
  [1927, "lost"],
]);

interface MysqlError {
  readonly errno?: unknown;
  readonly code?: unknown;
  readonly sqlState?: unknown;
  readonly message?: unknown;
  readonly fatal?: unknown;
}

/** @param wasConnected whether the connection had been made */
export function mysqlFault(error: unknown, wasConnected: boolean): SqlFault {
  if (error instanceof SqlFault) return error;
  const { errno, code, sqlState, message } = error as MysqlError;
  const said = typeof message === "string" && message !== "" ? message : "no reason was given";
  // Numbers below 1,000 are the operating system's; without a state the server did not say it.
  if (typeof errno !== "number" || errno < 1_000 || typeof sqlState !== "string") {
    const named = typeof code === "string" ? { code } : {};
    return new SqlFault({ kind: wasConnected ? "lost" : "unreachable", message: said, ...named, cause: error });
  }
  const found = kinds.get(errno) ?? (sqlState.startsWith("23") ? "constraint" : sqlState.startsWith("22") ? "value" : sqlState.startsWith("42") ? "syntax" : "other");
  const kind = found === "lost" && !wasConnected ? "unreachable" : found;
  return new SqlFault({ kind, message: said, name: missingName(kind, said), code: `${errno}`, cause: error });
}

function missingName(kind: FaultKind, said: string): string | undefined {
  if (kind === "unknown_table") return /'([^']+)'/.exec(said)?.[1]?.split(".").at(-1);
  return kind === "unknown_column" ? /column '([^']+)'/i.exec(said)?.[1] : undefined;
}
