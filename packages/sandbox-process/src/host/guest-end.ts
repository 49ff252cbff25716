import { constants } from "node:os";
import { encodeValue } from "@callgate/contract";
import type { GuestEnd, LimitName, RunLimits } from "@callgate/contract";
import type { GuestLanguage } from "../language/guest-language.ts";
import type { GuestExit } from "../launcher/launcher.ts";

const advice: Partial<Readonly<Record<LimitName, string>>> = {
  cpuMs: "The program computed for longer than allowed. Do less, or let a tool do it.",
  memoryMiB: "The program used more memory than allowed. Work in smaller pieces.",
  resultBytes: "The value of the program is larger than allowed. Return less: a count, a part, an aggregate.",
};

/** An end at a limit, with what to do. */
export function limitEnd(limit: LimitName, limits: RunLimits): GuestEnd {
  return { kind: "limit", limit, limitValue: limits[limit], message: `${advice[limit] ?? "A limit was passed."} The limit ${limit} is ${limits[limit]}.` };
}

/** The end of a program that ended with an exit code: 0 is no value, anything else an error that names it. */
export function exitEnd(exitCode: number): GuestEnd {
  if (exitCode === 0) return { kind: "returned", value: encodeValue(undefined) };
  const signal = signalOf(exitCode);
  const how = signal === undefined ? "" : ` (ended by ${signal})`;
  return { kind: "threw", error: { name: "ExitError", code: "EXIT_CODE", message: `The program exited with code ${exitCode}${how}`, details: encodeValue({ exitCode, ...(signal === undefined ? {} : { signal }) }) } };
}

/** The end of a program whose command is not in the sandbox. */
export function missingEnd({ language, command: [program = ""] }: Pick<GuestLanguage, "language" | "command">): GuestEnd {
  return { kind: "crashed", message: `the command ${program} of the language ${language} is not there in the sandbox`, missingProgram: program };
}

/** The end of a guest whose process ended before it said how. */
export function deathEnd(exit: GuestExit, { limits, cpuMs }: { readonly limits: RunLimits; readonly cpuMs: number }): GuestEnd {
  if (exit.failure !== undefined) return { kind: "crashed", message: exit.failure };
  if (exit.outOfMemory) return limitEnd("memoryMiB", limits);
  const signal = exit.signal ?? signalOf(exit.code ?? 0);
  if (signal === "SIGXCPU" || (signal === "SIGKILL" && cpuMs >= limits.cpuMs * 0.8)) return limitEnd("cpuMs", limits);
  if (signal !== undefined) return { kind: "crashed", message: `the program's process was ended by ${signal}`, signal };
  return exitEnd(exit.code ?? 0);
}

/** The end of a plain guest that never told its program's exit code: what ended is what starts the program, not the program. */
export function unfinishedEnd(exit: GuestExit, bounds: Parameters<typeof deathEnd>[1]): GuestEnd {
  const end = deathEnd(exit, bounds);
  return end.kind === "returned" || end.kind === "threw" ? { kind: "crashed", message: `the sandbox ended with code ${exit.code ?? 0} before the program did; what it said is in the output` } : end;
}

function signalOf(code: number): string | undefined {
  return code > 128 ? Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0] : undefined;
}
