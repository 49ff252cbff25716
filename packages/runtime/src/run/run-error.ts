import { decodeValue } from "@callgate/contract";
import type { CheckReport, Diagnostic, GuestEnd, GuestError, JsonObject, RunError, RunStatus } from "@callgate/contract";
import { modelView } from "../result/model-view.ts";
import type { EarlierPrograms } from "./earlier-programs.ts";

/** The executed text beside the model's own. */
export interface ProgramPlace {
  /** As the model wrote it. */
  readonly text: string;
  readonly lineOffset: number;
  readonly shiftedLines: Extract<CheckReport, { kind: "ok" }>["shiftedLines"];
}

/** How a run's end reads to its caller. */
export interface ToldEnd {
  readonly status: Exclude<RunStatus, "running" | "suspended" | "rejected" | "diverged">;
  readonly error?: RunError;
}

export interface TellOptions {
  readonly place: ProgramPlace;
  /** Takes secrets out. */
  readonly clean: (text: string) => string;
  /** Names the earlier run that defined a variable. */
  readonly definedBefore: (name: string) => string | undefined;
}

/** Translates a guest's end. The error is made for repair: what, where in the model's text, what to do. */
export function tellEnd(end: GuestEnd, options: TellOptions): ToldEnd {
  switch (end.kind) {
    case "returned":
      return { status: "completed" };
    case "threw":
      return { status: "failed", error: tellThrown(end.error, options) };
    case "stalled":
      return { status: "failed", error: { code: "PROGRAM_STALLED", message: "The program waits for something that cannot happen any more: no call and no timer is open. Await only promises that some call, timer or other code settles.", retryable: false } };
    case "limit":
      return { status: "limit", error: { code: "LIMIT_EXCEEDED", message: options.clean(end.message), retryable: false, details: { limit: end.limit, limitValue: end.limitValue } } };
    case "cancelled":
      return { status: "cancelled", error: { code: "CANCELLED", message: "The run was cancelled before it ended.", retryable: true } };
    case "crashed":
      if (end.missingProgram !== undefined) return { status: "crashed", error: { code: "SANDBOX_CRASHED", message: `Nothing of the program ran: ${options.clean(end.message)}. Install ${options.clean(end.missingProgram)} where programs see it (this machine, or the image of the container), or choose another language.`, retryable: false, ...crashDetails(end) } };
      return { status: "crashed", error: { code: "SANDBOX_CRASHED", message: `The sandbox ended unexpectedly: ${options.clean(end.message)}. The program may be at fault (memory, recursion) or we are; the gate goes on.`, retryable: true, ...crashDetails(end) } };
  }
}

function crashDetails({ signal, missingProgram }: Extract<GuestEnd, { kind: "crashed" }>): Pick<RunError, "details"> {
  const details = { ...(signal === undefined ? {} : { signal }), ...(missingProgram === undefined ? {} : { missingProgram }) };
  return Object.keys(details).length === 0 ? {} : { details };
}

function tellThrown(error: GuestError, { place, clean, definedBefore }: TellOptions): RunError {
  const at = placeOf(error, place);
  const isTool = error.tool !== undefined && error.tool !== "";
  const name = isTool || error.name === "NonError" ? "" : `${error.name}: `;
  const message = clean(`${name}${error.message}`);
  const undefinedName = error.name === "ReferenceError" ? /^(\S+) is not defined/.exec(error.message)?.[1] : undefined;
  const details = detailsOf(error);
  return {
    code: error.code ?? "PROGRAM_THREW",
    message: undefinedName === undefined ? message : message + freshRunHint(undefinedName, definedBefore),
    retryable: error.retryable ?? false,
    ...(isTool ? { tool: error.tool } : {}),
    ...(details === undefined ? {} : { details }),
    ...at,
  };
}

/** Line, column and excerpt in the model's own text; empty when the error knows no place or one outside of it. */
export function placeOf({ line, column }: Pick<GuestError, "line" | "column">, { text, lineOffset, shiftedLines }: ProgramPlace): Pick<RunError, "line" | "column" | "excerpt"> {
  if (line === undefined) return {};
  const ownLine = line + lineOffset;
  const own = text.split(/\r\n|\n|\r/)[ownLine - 1];
  if (ownLine < 1 || own === undefined) return {};
  const shift = shiftedLines.find((shifted) => shifted.line === line)?.columns ?? 0;
  const trimmed = own.trim();
  return {
    line: ownLine,
    ...(column === undefined ? {} : { column: Math.max(1, column + shift) }),
    ...(trimmed === "" ? {} : { excerpt: trimmed.length > 160 ? `${trimmed.slice(0, 159).toWellFormed()}…` : trimmed }),
  };
}

function detailsOf(error: GuestError): JsonObject | undefined {
  if (error.details === undefined) return undefined;
  try {
    const view = modelView(decodeValue(error.details));
    if (typeof view !== "object" || view === null || Array.isArray(view)) return { value: view };
    return Object.keys(view).length === 0 ? undefined : (view as JsonObject);
  } catch {
    return undefined; // A hostile guest may send anything; the error itself counts.
  }
}

/** code-mode 17: models go on using a variable of their previous program. */
function freshRunHint(name: string, definedBefore: (name: string) => string | undefined): string {
  const runId = definedBefore(name);
  if (runId === undefined) return "";
  return `. "${name}" was a variable of run ${runId}; each run is fresh and keeps none. Define it here, or read what that run returned: await results.read("result://${runId}/1")`;
}

const unknownName = /annot find name ['"]([\p{L}_$][\p{L}\p{N}_$]*)['"]|^([\p{L}_$][\p{L}\p{N}_$]*) is not declared/u;

/** Adds the hint to what the checker says of an unknown name. */
export function hintDiagnostics(diagnostics: readonly Diagnostic[], earlier: EarlierPrograms, owner: { readonly tenant: string; readonly user: string }): readonly Diagnostic[] {
  return diagnostics.map((diagnostic) => {
    const name = diagnostic.severity === "error" ? unknownName.exec(diagnostic.message)?.slice(1).find((found) => found !== undefined) : undefined;
    const hint = name === undefined ? "" : freshRunHint(name, (wanted) => earlier.definedBefore(owner, wanted));
    return hint === "" ? diagnostic : { ...diagnostic, message: diagnostic.message.replace(/\.$/, "") + hint };
  });
}
