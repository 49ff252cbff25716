import type { ApprovalQuestion } from "./approval.ts";
import type { CallCost } from "./budgets.ts";
import type { CircuitView } from "./call-limits.ts";
import type { CallError } from "./call-error.ts";
import type { Diagnostic } from "./checker.ts";
import type { RunWait } from "./durable.ts";
import type { GuestConnection, GuestConsoleEntry } from "./guest-frames.ts";
import type { InterceptedHow } from "./interceptor.ts";
import type { JsonValue } from "./json.ts";
import type { RunKind } from "./journal.ts";
import type { EffectStatus, OutcomeKind, RunStatus } from "./outcome.ts";
import type { NextDecision } from "./policy.ts";
import type { Principal } from "./principal.ts";
import type { SimulatedBy } from "./simulation.ts";
import type { SourceState } from "./source.ts";
import type { Effect } from "./tool-spec.ts";
import type { TraceContext } from "./trace-context.ts";

interface RunScoped {
  readonly atMs: number;
  readonly runId: string;
  /** The very object that the caller gave, while its call or run goes on in this process: so it finds its own events. */
  readonly principal: Principal;
}

interface CallScoped extends RunScoped {
  readonly callId: string;
  readonly tool: string;
}

/**
 * Everything a gate says, in the order it happened. Names are noun-verb and pinned by test; values are summaries, never
 * clear. docs/reference/events.md is printed from this file.
 */
export type GateEvent =
  | (RunScoped & { readonly kind: "run-started"; readonly runKind: RunKind; /** A rehearsal with other placeholders, which the one that is meant is held against. */ readonly isVaried?: true; readonly trace?: TraceContext })
  | (RunScoped & { readonly kind: "run-checked"; readonly ok: boolean; readonly diagnostics: readonly Diagnostic[]; readonly durationMs: number })
  | (RunScoped & { readonly kind: "run-progressed"; readonly message: string; readonly fraction?: number })
  | (RunScoped & { readonly kind: "run-printed"; readonly entries: readonly GuestConsoleEntry[] })
  | (RunScoped & { readonly kind: "run-connected"; readonly connection: GuestConnection })
  | (RunScoped & { readonly kind: "run-suspended"; readonly waits: readonly RunWait[] })
  | (RunScoped & { readonly kind: "run-resumed"; readonly epoch: number; readonly reason: "due" | "taken_over"; readonly changes: readonly string[]; readonly trace?: TraceContext })
  | (RunScoped & { readonly kind: "run-fenced"; readonly epoch: number })
  | (RunScoped & { readonly kind: "run-ended"; readonly status: RunStatus; readonly durationMs: number })
  | (CallScoped & { readonly kind: "call-requested"; readonly effect: Effect; readonly args: JsonValue })
  | (CallScoped & { readonly kind: "call-decided"; readonly decision: "allow" | "ask" | "deny"; readonly ruleId: string; readonly unobserved?: "ask" | "deny"; readonly next?: NextDecision })
  /** A standing grant let the call through, without a question. `use`: the how many-th of `maxUses`. */
  | (CallScoped & { readonly kind: "grant-used"; readonly grantId: string; readonly by: string; readonly use: number; readonly maxUses: number })
  | (CallScoped & { readonly kind: "call-intercepted"; readonly by: string; readonly how: InterceptedHow })
  | (CallScoped & { readonly kind: "approval-asked"; readonly question: ApprovalQuestion })
  | (CallScoped & { readonly kind: "approval-answered"; readonly approvalId: string; readonly approved: boolean; readonly by: string })
  /** An answer that does not count: too late, from who asked, or without a valid signature. */
  | (CallScoped & { readonly kind: "approval-refused"; readonly approvalId: string; readonly by: string; readonly why: string })
  | (CallScoped & { readonly kind: "call-started"; readonly attempt: number })
  | (CallScoped & { readonly kind: "call-progressed"; readonly message: string; readonly fraction?: number })
  /** What the tool asks waits for a person; false: it goes on. */
  | (CallScoped & { readonly kind: "call-waiting"; readonly waits: boolean })
  | (CallScoped & { readonly kind: "call-ended"; readonly outcome: OutcomeKind; readonly effectStatus: EffectStatus; readonly durationMs: number; readonly error?: CallError; /** Another call was answered that. */ readonly cached?: true; readonly cost?: CallCost; /** The interceptor that answered in the tool's place. */ readonly answeredBy?: string; /** It was rehearsed, not made. */ readonly simulated?: SimulatedBy })
  | (CallScoped & { readonly kind: "call-resolved"; readonly effectStatus: EffectStatus; readonly how: "reconciled" | "repeated" | "person" | "nobody" | "refused" })
  | (CallScoped & { readonly kind: "call-late"; readonly effectStatus: EffectStatus })
  | { readonly kind: "source-changed"; readonly atMs: number; readonly namespace: string; readonly state: SourceState }
  | { readonly kind: "circuit-changed"; readonly atMs: number; readonly namespace: string; readonly state: CircuitView["state"] | "closed"; readonly retryAfterMs?: number }
  | { readonly kind: "catalog-changed"; readonly atMs: number; readonly tools: number; readonly problems: readonly string[] }
  | { readonly kind: "journal-degraded"; readonly atMs: number; readonly message: string };

export type GateEventKind = GateEvent["kind"];
