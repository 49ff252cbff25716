import { CallgateError } from "@callgate/contract";
import type { Gate, OpenSessionOptions, Principal, ProgramLanguage, RunOptions, RunResult, SandboxDriver, SessionView } from "@callgate/contract";
import { newId } from "../lib/new-id.ts";
import { createOpenSession, endedError } from "./open-session.ts";
import type { OpenSession } from "./open-session.ts";
import type { LimitRules } from "./run-limits.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunSeams } from "./run-scope.ts";
import type { Runner } from "./runner.ts";

/** The sessions of one gate. */
export interface GateSessions {
  readonly sessions: Gate["sessions"];
  /**
   * Runs a block.
   *
   * @param requestFor what is asked, in the language of the session
   *
   * Errors: SESSION_ENDED; USAGE for another language.
   */
  run(sessionId: string, asked: Pick<RunOptions, "principal" | "language">, requestFor: (language: ProgramLanguage) => RunRequest): Promise<RunResult>;
}

export interface GateSessionsOptions {
  readonly drivers: readonly SandboxDriver[];
  readonly runner: Runner;
  readonly limits: LimitRules;
  readonly seams: Pick<RunSeams, "clock" | "random">;
  /** Whose they are where a caller says nothing. */
  readonly principal: Principal;
  readonly maxSessions: number;
  readonly isClosed: () => boolean;
}

const defaultIdleMs = 30 * 60_000;
const defaultTotalMs = 8 * 3_600_000;
/** What a timer can wait for. */
const maxMs = 2 ** 31 - 1;
const maxEndedKept = 32;

export function createGateSessions(options: GateSessionsOptions): GateSessions {
  const { drivers, runner, limits, seams, principal: own } = options;
  const table = createTable(options);

  return {
    async run(sessionId, { principal, language }, requestFor) {
      const session = table.mustFind(sessionId, principal);
      const is = session.view.language;
      if (language !== undefined && language !== is) throw new CallgateError("USAGE", `The session ${sessionId} is one of ${is}; a block of ${language} cannot run in it`);
      return await session.run(requestFor(is));
    },
    sessions: {
      open(asked = {}) {
        const { language = "python", principal = own } = asked;
        const sessionId = asked.sessionId ?? newId("ses", seams.random);
        table.mustBeFree(sessionId);
        const bounds = boundsOf(asked, limits);
        const driver = driverOf(drivers, language);
        const guest = driver.openSession?.({ sessionId, language, ...bounds });
        if (guest === undefined) throw new CallgateError("DRIVER_FAILED", `The sandbox ${driver.name} says that it has sessions and opens none`);
        return table.add(sessionId, createOpenSession({ guest, driver, principal, openedAtMs: seams.clock.now(), bounds, runner })).view;
      },
      list: ({ principal } = {}) => table.list(principal),
      show: (sessionId, { principal } = {}) => table.find(sessionId, principal)?.view,
      interrupt: (sessionId, { principal } = {}) => mustBeStill(table.mustFind(sessionId, principal)).interrupt(),
      async restart(sessionId, { principal } = {}) {
        const session = mustBeStill(table.mustFind(sessionId, principal));
        await session.restart();
        return session.view;
      },
      async close(sessionId, { principal } = {}) {
        const session = table.mustFind(sessionId, principal);
        await session.close();
        return session.view;
      },
    },
  };
}

/** Sessions by name, in the order in which they were opened; each is seen by its owner only. */
interface SessionTable {
  find(sessionId: string, principal: Principal | undefined): OpenSession | undefined;
  mustFind(sessionId: string, principal: Principal | undefined): OpenSession;
  /** Throws where no session of that name may be opened. */
  mustBeFree(sessionId: string): void;
  add(sessionId: string, session: OpenSession): OpenSession;
  /** Newest first. */
  list(principal: Principal | undefined): readonly SessionView[];
}

function createTable({ principal: own, maxSessions, isClosed }: Pick<GateSessionsOptions, "principal" | "maxSessions" | "isClosed">): SessionTable {
  const all = new Map<string, OpenSession>();
  const isOpen = ({ view }: OpenSession): boolean => view.phase !== "ended";
  const find: SessionTable["find"] = (sessionId, principal = own) => {
    const found = all.get(sessionId);
    return found !== undefined && isOwner(found.principal, principal) ? found : undefined;
  };
  return {
    find,
    mustFind(sessionId, principal) {
      const found = find(sessionId, principal);
      if (found === undefined) throw new CallgateError("SESSION_ENDED", `There is no session ${JSON.stringify(sessionId)} here: it was never opened, or it ended with the process that held it and its state is gone. Open a new one`, { details: { sessionId } });
      return found;
    },
    mustBeFree(sessionId) {
      if (isClosed()) throw new CallgateError("CLOSED", "The gate was closed");
      if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(sessionId)) throw new CallgateError("USAGE", `A session's name is of letters, digits, - and _, at most 64, not ${JSON.stringify(sessionId)}`);
      const before = all.get(sessionId);
      if (before !== undefined && isOpen(before)) throw new CallgateError("USAGE", `There is a session ${sessionId} already; close it, or choose another name`);
      if ([...all.values()].filter(isOpen).length >= maxSessions) throw new CallgateError("USAGE", `${maxSessions} sessions are open, and no more may be; close one first`);
    },
    add(sessionId, session) {
      all.delete(sessionId);
      all.set(sessionId, session);
      // Of those that ended, the last few are kept, to say why.
      const ended = [...all].filter(([, one]) => !isOpen(one));
      for (const [old] of ended.slice(0, Math.max(0, ended.length - maxEndedKept))) all.delete(old);
      return session;
    },
    list: (principal = own) => [...all.values()].filter((session) => isOwner(session.principal, principal)).map(({ view }) => view).reverse(),
  };
}

function mustBeStill(session: OpenSession): OpenSession {
  if (session.view.phase === "ended") throw endedError(session.view);
  return session;
}

function isOwner(owner: Principal, caller: Principal): boolean {
  return owner.tenant === caller.tenant && owner.user === caller.user;
}

function boundsOf({ memoryMiB, idleMs = defaultIdleMs, totalMs = defaultTotalMs }: OpenSessionOptions, limits: LimitRules): Pick<SessionView, "memoryMiB" | "idleMs" | "totalMs"> {
  for (const [name, value] of Object.entries({ idleMs, totalMs })) {
    if (!Number.isSafeInteger(value) || value < 1 || value > maxMs) throw new CallgateError("USAGE", `${name} must be a whole number of milliseconds from 1 to ${maxMs}, not ${String(value)}`);
  }
  return { memoryMiB: limits.forRun(memoryMiB === undefined ? undefined : { memoryMiB }).limits.memoryMiB, idleMs, totalMs };
}

function driverOf(drivers: readonly SandboxDriver[], language: string): SandboxDriver {
  const found = drivers.find(({ languages }) => languages.includes(language));
  if (found?.sessions === true) return found;
  const kept = [...new Set(drivers.filter(({ sessions }) => sessions).flatMap(({ languages }) => languages))].filter((name) => drivers.find(({ languages }) => languages.includes(name))?.sessions === true);
  const why = found === undefined ? `no sandbox here runs ${language}` : `${language} runs in ${found.name}, which keeps no state`;
  throw new CallgateError("USAGE", `A session of ${language} cannot be opened: ${why}. There are sessions of ${kept.join(", ") || "no language"}`);
}
