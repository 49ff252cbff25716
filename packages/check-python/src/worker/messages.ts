import type { CheckReport, Effect, Lane } from "@callgate/contract";
import type { PyrightFinding } from "../server/language-server.ts";

/** A namespace as it crosses to the worker: its text only when that worker has not got it yet. */
export interface NamespaceMessage {
  readonly key: string;
  readonly namespace: string;
  readonly load?: { readonly text: string; readonly tools: readonly (readonly [name: string, effect: Effect])[] };
}

/** A program is read, shown to pyright, and judged: two requests with pyright between them. */
export type ReaderRequest =
  | { readonly kind: "read"; readonly id: number; readonly text: string; readonly namespaces: readonly NamespaceMessage[] }
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
}
