// Tests only: a broker over a recording journal, a virtual clock, and tools written in a line.
import { createHash } from "node:crypto";
import { defaultLimits, encodeValue, localPrincipal } from "@callgate/contract";
import type { ApprovalAnswer, ApprovalQuestion, Blobs, Digest, Durability, Effect, GateEvent, Journal, JournalEntry, Policy, PolicyDecision, Redactor, Tool, ToolContext } from "@callgate/contract";
import { virtualClock } from "@callgate/testkit";
import { callbackApprover } from "../approval/approvers.ts";
import { digestOf, digestOfWire } from "../lib/digest.ts";
import { createBroker } from "./broker.ts";
import type { BrokerCatalog, BrokerTool, CallRequest, PerformedCall, ToolLogRecord } from "./call.ts";

type Handler = (args: unknown, context: ToolContext) => unknown;

export interface TestTool extends Partial<Tool> {
  readonly effect?: Effect;
  readonly run?: Handler;
  /** Says what is wrong with the arguments, or nothing. */
  readonly badInput?: (value: unknown) => string | undefined;
  readonly badOutput?: (value: unknown) => string | undefined;
}

export function testTool(qualified: string, given: TestTool = {}): BrokerTool {
  const [namespace = "", name = ""] = qualified.split(".");
  const { run = () => null, badInput, badOutput, ...spec } = given;
  const tool: Tool = {
    name, description: name, input: true, effect: "write", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1000, examples: [], errors: [],
    handler: run,
    ...spec,
  };
  const judge = (bad: typeof badInput, parse: Tool["parseInput"]) => async (value: unknown) => {
    const message = bad?.(value);
    if (message !== undefined) return { kind: "invalid" as const, issues: [{ path: "/amount", message }] };
    return (await parse?.(value)) ?? { kind: "ok" as const, value };
  };
  return {
    name: qualified,
    namespace,
    tool,
    definitionDigest: digestOf([qualified, tool.version, tool.effect]),
    validateInput: judge(badInput, tool.parseInput),
    validateOutput: judge(badOutput, tool.parseOutput),
    source: {
      namespace,
      kind: "test",
      state: { kind: "ready" },
      list: () => Promise.resolve({ tools: [], problems: [] }),
      call: async (_name, args, context) => await tool.handler(args, context),
      onChange: () => undefined,
      close: () => Promise.resolve(),
    },
  };
}

export function testCatalog(tools: readonly BrokerTool[]): BrokerCatalog {
  return {
    resolve: (name) => tools.find((tool) => tool.name === name),
    nearest: (name, visible = () => true) => tools.filter((tool) => visible(tool) && tool.namespace === name.split(".")[0]).map((tool) => tool.name),
  };
}

export function recordingJournal(): Pick<Journal, "append"> & { readonly rows: { readonly runId: string; readonly entry: JournalEntry; readonly durability: Durability }[]; fail: (entries: readonly JournalEntry[]) => boolean } {
  const journal = {
    rows: [] as { readonly runId: string; readonly entry: JournalEntry; readonly durability: Durability }[],
    fail: (_entries: readonly JournalEntry[]): boolean => false,
    append: async (runId: string, entries: readonly JournalEntry[], durability: Durability) => {
      await Promise.resolve();
      if (journal.fail(entries)) throw new Error("disk full");
      for (const entry of entries) journal.rows.push({ runId, entry, durability });
    },
  };
  return journal;
}

export const testRedactor: Redactor = {
  record: (value, wire, sensitive) => ({ digest: digestOfWire(wire), summary: testRedactor.summary(value, sensitive), clear: wire }),
  summary: (value, sensitive) => (sensitive.includes("") ? "hash:all" : (JSON.parse(JSON.stringify(value, (key, item: unknown) => (sensitive.includes(`/${key}`) ? "hash:one" : typeof item === "bigint" ? String(item) : item)) ?? "null") as null)),
  text: (text) => text.replaceAll("canary-7f3a", "[secret]"),
};

function memoryBlobs(): Blobs & { readonly kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    put: (tenant, bytes) => {
      const digest: Digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      kept.set(`${tenant} ${digest}`, bytes);
      return Promise.resolve(digest);
    },
    get: (tenant, digest) => Promise.resolve(kept.get(`${tenant} ${digest}`)),
    delete: (tenant, digest) => Promise.resolve(void kept.delete(`${tenant} ${digest}`)),
  };
}

export interface TestGateInit {
  readonly tools: readonly BrokerTool[];
  readonly decide?: (tool: string, args: unknown) => PolicyDecision;
  readonly visible?: (tool: string) => boolean;
  readonly answer?: (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer> | ApprovalAnswer;
}

export const allow = (): PolicyDecision => ({ kind: "allow", ruleId: "allow-all" });
export const ask = (): PolicyDecision => ({ kind: "ask", ruleId: "ask-all", reason: "Every call asks" });
export const deny = (): PolicyDecision => ({ kind: "deny", ruleId: "deny-all", reason: "No call is allowed", help: "Ask the owner of the rules" });

export function testGate(init: TestGateInit) {
  const clock = virtualClock();
  const journal = recordingJournal();
  const events: GateEvent[] = [];
  const logs: ToolLogRecord[] = [];
  const blobs = memoryBlobs();
  const policy = {
    version: "rules:1",
    decide: ({ tool, args }: Parameters<Policy["decide"]>[0]) => (init.decide ?? allow)(tool, args),
    visible: (_principal: unknown, tool: string) => init.visible?.(tool) ?? true,
  };
  let ids = 0;
  const broker = createBroker({
    policy,
    approver: callbackApprover(init.answer ?? (() => ({ kind: "approved", by: "ann" }))),
    journal: journal as Partial<Journal> as Journal,
    redactor: testRedactor,
    blobs,
    clock,
    newId: (prefix) => `${prefix}_${++ids}`,
    emit: (event) => void events.push(event),
    log: (record) => void logs.push(record),
  });
  let seq = 0;
  const catalog = testCatalog(init.tools);
  const call = (tool: string, args: unknown = {}, more: Partial<CallRequest> = {}): Promise<PerformedCall> => {
    seq += 1;
    return broker.perform({
      catalog, tool, args: encodeValue(args), principal: localPrincipal, runId: "run_1", callId: `call_${seq}`, seq, occurrence: 0, lane: "execute", taskId: undefined,
      signal: new AbortController().signal, limits: defaultLimits, ...more,
    });
  };
  /** What was journalled of the calls, in order. */
  const entries = () => journal.rows.map(({ entry }) => entry);
  /** `call-started`, ... in order. */
  const eventKinds = () => events.map(({ kind }) => kind);
  return { broker, call, clock, journal, entries, events, eventKinds, logs, blobs, policy };
}

/** The error of a call that did not end `ok`. */
export function errorOf({ outcome }: PerformedCall) {
  if (outcome.kind === "ok") throw new Error("the call was ok");
  return outcome.error;
}

