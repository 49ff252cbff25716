import type { GuestSession, SandboxDriver } from "@callgate/contract";
import type { Dialect, ProgramName } from "./programs.ts";
import { languageOfDialect, programIn } from "./programs.ts";

/** What a case is run against. */
export interface DriverWorld {
  readonly driver: SandboxDriver;
  readonly dialect: Dialect;
}

/** A session of the driver, opened for the case and closed after it. */
export interface SessionWorld extends DriverWorld {
  readonly session: GuestSession;
}

/** One thing a driver must do. `run` rejects when it does not. */
export interface DriverCase {
  readonly name: string;
  /** Programs of the table it runs. It does not apply to a language that lacks one. */
  readonly programs?: readonly ProgramName[];
  /** The one language its own programs are written in. */
  readonly language?: "javascript";
  /** It is a promise of drivers that have this only. */
  readonly needs?: "replayable" | "artifacts" | "sessions";
  readonly run: (world: DriverWorld) => Promise<void>;
  readonly timeoutMs?: number;
}

export interface CaseGroup {
  readonly name: string;
  readonly cases: readonly DriverCase[];
}

/** Why a case does not apply to a driver; undefined where it does. */
export function whyNot(item: DriverCase, { driver, dialect }: DriverWorld): string | undefined {
  if (item.language !== undefined && item.language !== languageOfDialect[dialect]) return `is about ${item.language}`;
  if (item.needs !== undefined && !driver[item.needs]) return `the driver is not said to have: ${item.needs}`;
  const missing = item.programs?.find((name) => programIn(dialect, name) === undefined);
  return missing === undefined ? undefined : `${dialect} has no program "${missing}"`;
}
