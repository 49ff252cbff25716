import type { Effect } from "./tool-spec.ts";
import type { ProgramLanguage } from "./sandbox-driver.ts";
import type { RunLimits } from "./limits.ts";

/** A namespace whose source cannot be reached, so that its tools are not known. Only for who may call some of them. */
export interface UnavailableNamespace {
  readonly namespace: string;
  /** Which source, why, what still works and when to try again: whole sentences, for a model as for a person. */
  readonly message: string;
  /** Whether trying again can help. */
  readonly retryable: boolean;
}

/** A namespace as the checker sees it. */
export interface NamespaceDeclaration {
  /** Identifier, after the naming rule. */
  readonly namespace: string;
  /** A whole `declare module "tools/<namespace>" { ... }` for TypeScript, or the stub of `tools.<namespace>` for Python. */
  readonly text: string;
  /** Of the text; equal digests mean nothing needs to be loaded again. */
  readonly digest: string;
  readonly tools: readonly { readonly name: string; readonly effect: Effect }[];
  /**
   * Set where outputs were learned from answers. What such a type finds wrong is only a warning: it is held against `strict` first,
   * in which every field that was seen is there, and where that refuses, against `loose`, in which nothing is said of those outputs.
   */
  readonly learned?: { readonly strict: DeclarationText; readonly loose: DeclarationText };
}

/** A declaration, and the digest of it. */
export type DeclarationText = Pick<NamespaceDeclaration, "text" | "digest">;

export interface CheckRequest {
  /** The program, in any accepted form. A `Checker` gets it already taken out of its fence and within the pre-scan's bounds. */
  readonly text: string;
  readonly namespaces: readonly NamespaceDeclaration[];
  /** A program that uses one of these is refused with SOURCE_UNAVAILABLE and its message, not as if it did not exist. */
  readonly unavailable?: readonly UnavailableNamespace[];
  readonly limits: Pick<RunLimits, "sourceBytes">;
  /** In the read lane a reachable write is an error. */
  readonly lane: Lane;
  /** Set for a block of a session. */
  readonly block?: SessionBlockCheck;
}

/**
 * What a checker knows of a block of a session. Its code is the text of the block in the language of its guest, with
 * types taken out; its value is its last expression, and it returns from nothing.
 */
export interface SessionBlockCheck {
  /** Names that blocks before it may have defined: nothing is known of them but that they may be there. */
  readonly known: readonly string[];
}

/** `query` reaches reads only; `execute` may write. */
export type Lane = "query" | "execute";

/** How the program was written; the report says which form was found. */
export type ProgramForm = "script" | "arrow" | "function" | "export_default" | "expression";

/**
 * Something said about the program. Lines and columns count from 1; a `Checker` gives those of the text it got, and
 * everyone else sees those of the model's own text, because the check stage moves them.
 */
export interface Diagnostic {
  readonly severity: "error" | "warning" | "advice";
  /** `TS2339`, `IMPORT_NOT_ALLOWED`, `FLOATING_PROMISE`, ... */
  readonly code: string;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** The model's own line, trimmed and bounded. */
  readonly excerpt?: string;
  /** Nearest names, best first. */
  readonly suggestions?: readonly string[];
  /** The declaration that was violated. */
  readonly declaration?: string;
  /** True where a person has to look at the program before it runs. */
  readonly review?: true;
}

/** A deterministic repair that was applied because it was the only reading. */
export interface Repair {
  readonly kind: "unwrapped" | "await_added" | "renamed" | "return_added" | "return_removed";
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** What the program can reach, as far as its text tells. */
export interface Reach {
  /** Qualified names; `*` when the program chooses a tool at run time. */
  readonly tools: readonly string[] | "*";
  readonly effects: readonly Effect[];
}

export type CheckReport =
  | {
      readonly kind: "ok";
      readonly form: ProgramForm;
      /** The executable text; see `GuestJob.code`. */
      readonly code: string;
      /** Added to a line of `code` it gives the line of the text. Columns are equal except on `shiftedLines`. */
      readonly lineOffset: number;
      /** `line` is one of `code`; `columns`, added to a column of it, gives the column of the text. */
      readonly shiftedLines: readonly { readonly line: number; readonly columns: number }[];
      readonly diagnostics: readonly Diagnostic[];
      readonly repairs: readonly Repair[];
      readonly reach: Reach;
      readonly durationMs: number;
    }
  | { readonly kind: "rejected"; readonly diagnostics: readonly Diagnostic[]; readonly repairs: readonly Repair[]; readonly durationMs: number };

/**
 * Checks programs of one language.
 *
 * - Works off the host's main thread, within its own bounds of time and memory; it recycles itself when it grows.
 * - Whatever the text, it answers: a text that breaks a bound is `rejected`, a checker that dies throws
 *   `CallgateError` CHECKER_FAILED and works again for the next program.
 */
export interface Checker {
  readonly language: ProgramLanguage;
  check(request: CheckRequest, signal: AbortSignal): Promise<CheckReport>;
  /** Loads declarations ahead of the first check. */
  warm(namespaces: readonly NamespaceDeclaration[]): Promise<void>;
  close(): Promise<void>;
}
