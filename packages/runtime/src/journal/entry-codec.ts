import type { ApprovalQuestion, CallError, Digest, JournalEntry, RecordedValue, RunWait, WireValue } from "@callgate/contract";

/** What stands for a text whose run was erased. */
export const erasedText = "[erased]";

/**
 * An entry cut in two. `body` is the entry as it still reads after an erase: it goes into the row as it is. `texts`
 * (free text from programs, tools and people) and `value` (what replay needs) are sealed. Laying `texts` over `body`
 * and putting `value` back gives the entry again.
 */
export interface SplitEntry {
  readonly body: JournalEntry;
  readonly texts: Partial<Record<string, unknown>> | undefined;
  readonly value: WireValue | undefined;
}

/** The field of an entry that holds its recorded value. */
type ValueField = "args" | "result" | "answer" | "value" | "plan";

export function splitEntry(entry: JournalEntry): SplitEntry {
  switch (entry.kind) {
    case "checked": {
      const { code, diagnostics, repairs } = entry;
      const body: JournalEntry = { ...entry, diagnostics: diagnostics.map(eraseDiagnostic), repairs: repairs.map((repair) => ({ ...repair, message: erasedText })) };
      delete (body as { code?: string }).code;
      return { body, texts: { diagnostics, repairs, ...(code === undefined ? {} : { code }) }, value: undefined };
    }
    case "call-issued":
    case "call-edited":
      return withValue(entry, "args", entry.args);
    case "planned":
      return withValue(entry, "plan", entry.plan);
    case "result-held":
      return withValue(entry, "result", entry.result);
    case "call-decided":
      return entry.reason === undefined ? plain(entry) : { body: { ...entry, reason: erasedText }, texts: { reason: entry.reason }, value: undefined };
    case "call-ended":
    case "call-late": {
      const split = entry.result === undefined ? plain(entry) : withValue(entry, "result", entry.result);
      if (entry.error === undefined) return split;
      return { ...split, body: { ...split.body, error: eraseError(entry.error) } as JournalEntry, texts: { error: entry.error } };
    }
    case "approval-asked":
      return { body: { ...entry, question: eraseQuestion(entry.question) }, texts: { question: entry.question }, value: undefined };
    case "suspended":
      return { body: { ...entry, waits: entry.waits.map(eraseWait) }, texts: { waits: entry.waits }, value: undefined };
    case "call-refused":
    case "call-resolved":
    case "call-reread":
    case "call-intercepted":
    case "call-backgrounded":
    case "resumed":
    case "cancelling":
      return plain(entry);
    case "delivered":
      return entry.answer === undefined ? plain(entry) : withValue(entry, "answer", entry.answer);
    case "console":
      return { body: { ...entry, entries: entry.entries.map((line) => ({ level: line.level, text: erasedText })) }, texts: { entries: entry.entries }, value: undefined };
    case "text":
      return { body: { ...entry, text: erasedText }, texts: { text: entry.text }, value: undefined };
    case "progress":
      return { body: { ...entry, message: erasedText }, texts: { message: entry.message }, value: undefined };
    case "connection":
      // A refused name is text of the program.
      return { body: { ...entry, connection: { ...entry.connection, host: erasedText } }, texts: { connection: entry.connection }, value: undefined };
    case "result":
      return withValue(entry, "value", entry.value);
  }
}

export function joinEntry(body: JournalEntry, texts: SplitEntry["texts"], value: WireValue | undefined): JournalEntry {
  const entry = texts === undefined ? body : ({ ...body, ...texts } as JournalEntry);
  if (value === undefined) return entry;
  const field = valueField(entry);
  if (field === undefined) return entry;
  const recorded = (entry as unknown as Record<ValueField, RecordedValue>)[field];
  return { ...entry, [field]: { ...recorded, clear: value } };
}

/** An error without what a tool or program wrote into it. */
export function eraseError(error: CallError): CallError {
  const { code, tool, retryable, path } = error;
  return { code, message: erasedText, tool, retryable, ...(path === undefined ? {} : { path }) };
}

/** A wait without what a person or a policy wrote into its question. */
export function eraseWait(wait: RunWait): RunWait {
  return wait.kind === "approval" ? { ...wait, question: eraseQuestion(wait.question) } : wait;
}

function eraseQuestion(question: ApprovalQuestion): ApprovalQuestion {
  return { ...question, reason: erasedText };
}

/** Digests of the blobs an entry names as artifacts. */
export function artifactDigests(entry: JournalEntry): readonly { readonly digest: Digest; readonly sizeBytes: number }[] {
  if (entry.kind === "call-ended" || entry.kind === "result-held") return entry.artifacts;
  return entry.kind === "result" && entry.artifact !== undefined ? [entry.artifact] : [];
}

function plain(entry: JournalEntry): SplitEntry {
  return { body: entry, texts: undefined, value: undefined };
}

function withValue(entry: JournalEntry, field: ValueField, recorded: RecordedValue): SplitEntry {
  const body = { ...entry, [field]: { digest: recorded.digest, summary: recorded.summary } };
  return { body, texts: undefined, value: recorded.clear };
}

function valueField(entry: JournalEntry): ValueField | undefined {
  switch (entry.kind) {
    case "call-issued":
    case "call-edited":
      return "args";
    case "planned":
      return "plan";
    case "call-ended":
    case "call-late":
    case "result-held":
      return "result";
    case "delivered":
      return "answer";
    case "result":
      return "value";
    case "checked":
    case "approval-asked":
    case "call-decided":
    case "call-refused":
    case "call-resolved":
    case "call-reread":
    case "call-intercepted":
    case "call-backgrounded":
    case "suspended":
    case "resumed":
    case "cancelling":
    case "console":
    case "text":
    case "progress":
    case "connection":
      return undefined;
  }
}

type CheckedDiagnostic = Extract<JournalEntry, { kind: "checked" }>["diagnostics"][number];

function eraseDiagnostic({ severity, code, line, column }: CheckedDiagnostic): CheckedDiagnostic {
  return { severity, code, message: erasedText, line, column };
}
