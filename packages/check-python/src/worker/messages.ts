import type { CheckReport, Lane, UnavailableNamespace } from "@callgate/contract";
import type { NamespaceMessage } from "@callgate/runtime/check-parts";
import type { FunctionModule } from "../program/function-module.ts";
import type { PyrightFinding } from "../server/language-server.ts";

/** A program is read, shown to pyright, and judged: two requests with pyright between them. */
export type ReaderRequest =
  | { readonly kind: "read"; readonly id: number; readonly text: string; readonly namespaces: readonly NamespaceMessage[]; readonly unavailable: readonly UnavailableNamespace[]; /** Beside those of the settings. */ readonly modules: readonly string[]; /** For a block of a session: names that may be there already. */ readonly known?: readonly string[] }
  | { readonly kind: "judge"; readonly id: number; readonly findings: readonly PyrightFinding[]; readonly lane: Lane };

export type ReaderAnswer =
  | { readonly kind: "read"; readonly id: number; readonly checkable: string }
  | { readonly kind: "report"; readonly id: number; readonly report: CheckReport }
  | { readonly kind: "fault"; readonly id: number; readonly message: string };

/** What the worker is started with. */
export interface ReaderSettings {
  readonly pythonVersion: string;
  /** Modules that may be imported beside the standard library. */
  readonly modules: readonly string[];
  readonly functions: readonly FunctionModule[];
}
