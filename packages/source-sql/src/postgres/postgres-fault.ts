import type { FaultKind, SqlFaultInit } from "../sql-fault.ts";
import { SqlFault } from "../sql-fault.ts";

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const kinds: readonly (readonly [RegExp, FaultKind])[] = [
  [/^42P01$/, "unknown_table"],
  [/^(3F000)$/, "unknown_table"],
  [/^42703$/, "unknown_column"],
  [/^(42P02|42P18|08P01)$/, "parameters"],
  [/^42501$/, "denied"],
  [/^25006$/, "read_only"],
  [/^57014$/, "cancelled"],
  [/^(40001|40P01|55P03)$/, "conflict"],
  [/^23/, "constraint"],
  [/^22/, "value"],
  [/^42804$/, "value"],
  [/^42/, "syntax"],
  [/^28/, "sign_in"],
  [/^3D000$/, "sign_in"],
  [/^(57P0|08|53300)/, "lost"],
];

interface PostgresError {
  readonly code?: unknown;
  readonly message?: unknown;
}

/** @param wasConnected whether the connection had been made: what fails before is not reached, what fails after is lost */
export function postgresFault(error: unknown, wasConnected: boolean): SqlFault {
  if (error instanceof SqlFault) return error;
  const { code, message } = error as PostgresError;
  const said = typeof message === "string" && message !== "" ? message : "no reason was given";
  // No class begins with E: EPIPE is the system's word for a connection that is gone.
  if (typeof code !== "string" || !/^(?!E)[0-9A-Z]{5}$/.test(code)) return connectionFault(said, { code, wasConnected, cause: error });
  if (/multiple commands/.test(said)) return new SqlFault({ kind: "several_statements", message: said, code, cause: error });
  const found = kinds.find(([pattern]) => pattern.test(code))?.[1] ?? "other";
  const kind = !wasConnected && found === "lost" ? "unreachable" : /statement timeout/.test(said) ? "timeout" : found;
  return new SqlFault({ kind, message: said, name: missingName(kind, said), code, cause: error });
}

function connectionFault(said: string, { code, wasConnected, cause }: { readonly code: unknown; readonly wasConnected: boolean; readonly cause: unknown }): SqlFault {
  const named = typeof code === "string" ? { code } : {};
  if (/password must be a|SASL: .*password/.test(said)) return new SqlFault({ kind: "sign_in", message: "it asks for a password, and the URL has none", ...named, cause });
  const init: SqlFaultInit = { kind: wasConnected ? "lost" : "unreachable", message: said, ...named, cause };
  return new SqlFault(init);
}

function missingName(kind: FaultKind, said: string): string | undefined {
  if (kind === "unknown_table") return /"([^"]+)"/.exec(said)?.[1];
  if (kind === "unknown_column") return /column (?:"([^"]+)"|([\w.]+))/.exec(said)?.slice(1).find((name) => name !== undefined);
  return undefined;
}
