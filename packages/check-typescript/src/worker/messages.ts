import type { CheckReport, Lane, UnavailableNamespace } from "@callgate/contract";
import type { NamespaceMessage } from "@callgate/runtime/check-parts";

export type CheckerRequest =
  | { readonly kind: "check"; readonly id: number; readonly text: string; readonly lane: Lane; readonly known?: readonly string[]; readonly unavailable?: readonly UnavailableNamespace[]; readonly namespaces: readonly NamespaceMessage[] }
  | { readonly kind: "warm"; readonly id: number; readonly namespaces: readonly NamespaceMessage[] };

export type CheckerAnswer =
  | { readonly kind: "report"; readonly id: number; readonly report: CheckReport; readonly heapMiB: number }
  | { readonly kind: "warmed"; readonly id: number; readonly heapMiB: number }
  /** The text was too much for the compiler's stack. The worker answers, and is replaced to be sure. */
  | { readonly kind: "overflow"; readonly id: number }
  | { readonly kind: "fault"; readonly id: number; readonly message: string };
