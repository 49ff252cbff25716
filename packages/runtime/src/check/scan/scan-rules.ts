import { CallgateError } from "@callgate/contract";
import type { Diagnostic } from "@callgate/contract";
import { nearestNames } from "../../lib/nearest-names.ts";

/** What becomes of a finding: the program is refused, a person is asked before it runs, or it is noted. */
export type ScanAction = "deny" | "review" | "note" | "off";

/**
 * Rules of the scanner: what each finds, and what becomes of it unless the gate says otherwise.
 *
 * A scanner of text is advice, never the wall (DESIGN D11): the same can always be written so that no rule sees it. What
 * holds is the sandbox and the broker.
 */
export const scanRules = {
  PY_OS_SYSTEM: { action: "deny", message: "This hands a text to a shell; use a tool, or the standard library" },
  PY_SHELL_TRUE: { action: "deny", message: "shell=True hands a text to a shell; pass a list of arguments without it" },
  PY_DUNDER_IMPORT: { action: "deny", message: "__import__ hides what is imported; write an import statement" },
  PY_EVAL: { action: "review", message: "eval and exec run text that nobody has checked" },
  PY_DYNAMIC_IMPORT: { action: "review", message: "importlib hides what is imported; write an import statement" },
  PY_DESERIALIZE: { action: "review", message: "pickle and marshal run what is in their data; use json" },
  PY_NATIVE: { action: "review", message: "ctypes reaches memory outside of Python" },
  PY_INTROSPECTION: { action: "review", message: "This walks through Python's own classes and frames, as programs do that look for a way out" },
  PY_YAML_LOAD: { action: "review", message: "yaml.load makes any object its text names; use yaml.safe_load" },
  PY_LOG_LISTEN: { action: "review", message: "logging.config.listen runs what is sent to it" },
  PY_TEMP_NAME: { action: "note", message: "mktemp names a file that another can make first; use NamedTemporaryFile or mkstemp" },
  PY_NETWORK: { action: "note", message: "A program has no network unless its sandbox opens a way; what reaches other systems is a tool" },
  PY_SUBPROCESS: { action: "note", message: "This starts another program" },
  JS_EVAL: { action: "review", message: "eval and Function run text that nobody has checked" },
  JS_CHILD_PROCESS: { action: "review", message: "child_process starts other programs" },
  JS_CONSTRUCTOR: { action: "review", message: "A constructor taken from a value makes functions out of text" },
  SH_RM_ROOT: { action: "review", message: "This removes everything" },
  SH_FILE_SYSTEM: { action: "review", message: "This overwrites a disk" },
  SH_FORK_BOMB: { action: "review", message: "A function that starts itself again and again" },
  SH_PIPE_TO_SHELL: { action: "review", message: "This runs a text that comes from elsewhere" },
  SH_EVAL: { action: "note", message: "eval runs text that nobody has checked" },
  SCAN_INCOMPLETE: { action: "review", message: "The program could not be scanned to its end" },
} as const satisfies Readonly<Record<string, { readonly action: ScanAction; readonly message: string }>>;

export type ScanRule = keyof typeof scanRules;

/** Where a rule found something, as an offset of the text. */
export interface ScanFinding {
  readonly rule: ScanRule;
  readonly offset: number;
}

const severities = { deny: "error", review: "warning", note: "advice" } as const;

/** A finding as the check reports it; undefined when the rule is off. */
export function scanDiagnostic({ rule }: ScanFinding, place: { readonly line: number; readonly column: number }, actions: Partial<Readonly<Record<ScanRule, ScanAction>>>): Diagnostic | undefined {
  const action = actions[rule] ?? scanRules[rule].action;
  if (action === "off") return undefined;
  const message = `${scanRules[rule].message}${action === "review" ? ". A person has to look at the program before it runs" : ""}`;
  return { severity: severities[action], code: rule, message, ...place, ...(action === "review" ? { review: true } : {}) };
}

/**
 * What becomes of each rule's findings by a table of rules and beginnings of their names: `{ PY_: "note", PY_EVAL: "deny" }`.
 * The longest that fits a rule counts.
 *
 * Errors: `CallgateError` CONFIG_INVALID for a name that fits no rule.
 */
export function scanActions(table: Readonly<Record<string, ScanAction>>): Partial<Readonly<Record<ScanRule, ScanAction>>> {
  const rules = Object.keys(scanRules) as ScanRule[];
  for (const name of Object.keys(table)) {
    if (name !== "" && rules.some((rule) => rule.startsWith(name))) continue;
    const [near] = nearestNames(name, rules, 1);
    throw new CallgateError("CONFIG_INVALID", `check.scan: no rule of the scanner is or begins with "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`);
  }
  return Object.fromEntries(
    rules.flatMap((rule) => {
      const [best] = Object.keys(table).filter((name) => rule.startsWith(name)).sort((a, b) => b.length - a.length);
      return best === undefined ? [] : [[rule, table[best]]];
    }),
  );
}
