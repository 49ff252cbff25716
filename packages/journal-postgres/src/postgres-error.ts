import { CallgateError } from "@callgate/contract";

/** Whether the connection was lost before an answer came: what was asked for may have been done. */
export function isLost(error: unknown): boolean {
  return CallgateError.is(error) && error.details?.["connection"] === "lost";
}

interface Advice {
  /** The whole of a code: of PostgreSQL, of the system or of TLS. */
  readonly code?: RegExp;
  /** Where there is none: what `pg` says. */
  readonly message?: RegExp;
  /** What is wrong, after "The journal's PostgreSQL". */
  readonly told: (error: { readonly code: string; readonly message: string }) => string;
}

/** Whom or what it names, as in: database "x" does not exist. */
const named = (message: string): string => /(?:user|role|database) ("[^"]{1,63}")/.exec(message)?.[1] ?? "that is named";

// SQLSTATE classes and codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const advice: readonly Advice[] = [
  { code: /^(53100|53200)$/, told: () => "has no space or memory left. Nothing of it was written; free some, or run `callgate runs prune`, then try again" },
  { code: /^53300$/, told: () => "takes no more connections. Nothing of it was written; raise max_connections, or give each process fewer" },
  { code: /^25006$/, told: () => "is read-only (a standby?). Nothing of it was written; point the journal at the primary" },
  { code: /^28P01$/, told: ({ message }) => `refused the password of user ${named(message)}. Nothing of it was written; put the right user and password into the URL that journal.postgres refers to` },
  { code: /^28/, told: ({ message }) => `does not let user ${named(message)} in. Nothing of it was written; check the user in the URL that journal.postgres refers to, and whether pg_hba.conf of the server lets it in from here` },
  { code: /^3D000$/, told: ({ message }) => `has no database ${named(message)}. Nothing of it was written; create it (createdb), or put the right name into the URL that journal.postgres refers to` },
  { code: /^42501$/, told: () => "does not let this user make or write the schema callgate: grant it, or let the owner start once" },
  { code: /^57P03$/, told: () => "is starting up or shutting down. Nothing of it was written; try again in a moment" },
  { code: /^(ECONNREFUSED|ENOENT|EACCES|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, told: () => "cannot be reached. Nothing of it was written; start the server, or check host and port of the URL that journal.postgres refers to" },
  { message: /connection timeout|timeout expired|timeout exceeded/, told: () => "did not answer in time. Nothing of it was written; check that the server is up and not overloaded, and host and port of the URL that journal.postgres refers to" },
  { message: /client password must be/, told: () => "asks for a password. Nothing of it was written; put one into the URL that journal.postgres refers to" },
  { message: /does not support SSL|establishing an SSL/, told: () => "offers no TLS. Nothing of it was written; turn it on there, or leave sslmode out of the URL where the network between is yours" },
  { code: /^(CERT_.*|.*_CERT|.*_CERT_.*|UNABLE_TO_.*|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_.*)$/, told: () => "has a certificate that is not trusted here. Nothing of it was written; name its authority with sslrootcert in the URL that journal.postgres refers to, and the host by the name that is in the certificate" },
  { code: /^ERR_INVALID_URL$/, told: () => "cannot be found: what journal.postgres refers to is no URL. It looks like postgres://user:password@host:5432/database" },
];

/** Turns what `pg` threw into the journal's error. The URL is never shown: it may hold a password. */
export function toJournalError(error: unknown): CallgateError {
  if (CallgateError.is(error)) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const [state, said] = [typeof code === "string" ? code : "", typeof message === "string" ? message : ""];
  const known = advice.find((one) => (one.code !== undefined && state !== "" ? one.code.test(state) : one.message?.test(said) === true));
  const place = state === "" ? "" : ` (${isState(state) ? "SQLSTATE " : ""}${state})`;
  if (known !== undefined) return new CallgateError("JOURNAL_UNAVAILABLE", `The journal's PostgreSQL ${known.told({ code: state, message: said })}${place}`, { cause: error, details: { state } });
  if (isState(state) && !/^(57P|08)/.test(state)) return new CallgateError("JOURNAL_UNAVAILABLE", `The journal's PostgreSQL refused it: ${said}${place}. Nothing of it was written`, { cause: error, details: { state } });
  return new CallgateError("JOURNAL_UNAVAILABLE", `The connection to the journal's PostgreSQL was lost (${state === "" ? said : state}): what was being written may be there or not`, { cause: error, details: { connection: "lost", state } });
}

/** No class begins with E: EPIPE is the system's word for a connection that is gone. */
function isState(code: string): boolean {
  return /^(?!E)[0-9A-Z]{5}$/.test(code);
}
