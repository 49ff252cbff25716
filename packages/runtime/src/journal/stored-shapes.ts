import type { JournalEntry } from "@callgate/contract";
import { z } from "zod";

// What whoever reads a column relies on, so that a record that was damaged or changed is refused by name and not fallen
// over. What is beside these fields is as it is: older versions wrote less. The audit chain tells of any other change.

const [text, number] = [z.string(), z.number()];
const map = z.record(z.string(), z.unknown());

export const headShape = z.looseObject({ roles: z.array(text), claims: map, language: text.optional(), seed: text, limits: z.record(text, number), driver: text.optional(), interfaces: map, policyVersion: text });

export const finishShape = z.looseObject({ tokens: z.looseObject({ result: number, program: number, direct: number }).optional(), error: z.looseObject({ code: text, message: text, tool: text }).optional() });

export const waitsShape = z.array(
  z.discriminatedUnion("kind", [
    z.looseObject({ kind: z.literal("approval"), seq: number, question: z.looseObject({ approvalId: text, runId: text }) }),
    z.looseObject({ kind: z.literal("timer"), seq: number, untilMs: number }),
    z.looseObject({ kind: z.literal("event"), seq: number, name: text, occurrence: number }),
    z.looseObject({ kind: z.literal("job"), seq: number, callId: text, tool: text }),
    z.looseObject({ kind: z.literal("resolution"), seq: number, callId: text, attempt: number, tool: text }),
  ]),
);

const effectStatus = z.enum(["none", "done", "unknown"]);

export const settledShape = z.looseObject({ effectStatus, undoing: effectStatus.optional() });

export const placesShape = z.array(z.looseObject({ budgetId: text, key: text, startMs: number }));

export const amountsShape = z.looseObject({ calls: number, bytes: number, durationMs: number, tokens: number, microUsd: number });

export const grantShape = z.looseObject({ grantId: text, tenant: text, tool: text, args: map, maxUses: number, expiresAtMs: number, by: text, givenAtMs: number });

const said = { by: text, atMs: number };

export const signalShape = z.discriminatedUnion("kind", [
  z.looseObject({ kind: z.literal("approval"), approvalId: text, approved: z.boolean(), ...said }),
  z.looseObject({ kind: z.literal("answer-refused"), approvalId: text, ...said }),
  z.looseObject({ kind: z.literal("event"), name: text, payload: map, ...said }),
  z.looseObject({ kind: z.literal("job"), callId: text, result: map, ...said }),
  z.looseObject({ kind: z.literal("resolution"), callId: text, attempt: number, happened: z.boolean(), ...said }),
]);

type Field = "text" | "number" | "boolean" | "map" | "list";

/** Looked at by hand: a record has thousands of entries, and is read whenever its run goes on. */
const entryFields: { readonly [Kind in JournalEntry["kind"]]: Readonly<Record<string, Field>> } = {
  "checked": { ok: "boolean", diagnostics: "list", repairs: "list" },
  "planned": { planId: "text", plan: "map" },
  "call-issued": { seq: "number", callId: "text", tool: "text", effect: "text", args: "map" },
  "call-intercepted": { seq: "number", by: "text" },
  "approval-asked": { seq: "number", question: "map" },
  "result-held": { seq: "number", effectStatus: "text", result: "map", artifacts: "list" },
  "call-edited": { seq: "number", args: "map" },
  "call-decided": { seq: "number", decision: "text" },
  "call-ended": { seq: "number", outcome: "text", effectStatus: "text", artifacts: "list" },
  "call-reread": { seq: "number" },
  "call-late": { seq: "number", effectStatus: "text" },
  "call-resolved": { seq: "number", effectStatus: "text", how: "text" },
  "call-backgrounded": { seq: "number", untilMs: "number" },
  "suspended": { waits: "list" },
  "cancelling": {},
  "resumed": { epoch: "number", reason: "text", changes: "list" },
  "call-refused": { seq: "number", tool: "text" },
  "delivered": { ord: "number", seq: "number", call: "map" },
  "console": { entries: "list" },
  "text": { text: "text" },
  "progress": { message: "text" },
  "connection": { connection: "map" },
  "result": { number: "number", label: "text", value: "map" },
};

function isField(value: unknown, field: Field): boolean {
  switch (field) {
    case "text":
      return typeof value === "string";
    case "map":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "list":
      return Array.isArray(value);
    case "number":
    case "boolean":
      return typeof value === field;
  }
}

/** Whether something that was read is an entry as far as anybody looks at it. */
export function isEntry(value: unknown): value is JournalEntry {
  const entry = value as Readonly<Record<string, unknown>> | null;
  const kind: unknown = typeof entry === "object" ? entry?.["kind"] : undefined;
  if (entry === null || typeof kind !== "string" || !Object.hasOwn(entryFields, kind) || typeof entry["atMs"] !== "number") return false;
  const fields = entryFields[kind as JournalEntry["kind"]];
  for (const name in fields) if (!isField(entry[name], fields[name] ?? "map")) return false;
  return true;
}

