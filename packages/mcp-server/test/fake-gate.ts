import type { CallResult, Gate, GateEvent, NamespaceView, ReadResult, RunOptions, RunResult, SourcePassThrough, ToolView } from "@callgate/contract";
import { CallgateError } from "@callgate/contract";

/** A gate whose answers are given; records what it was asked. For tests of what lies between a client and the gate. */
export interface FakeGate extends Gate {
  readonly asked: { readonly method: string; readonly args: readonly unknown[] }[];
  emit(event: GateEvent): void;
  setNamespaces(namespaces: readonly NamespaceView[]): void;
}

export interface FakeGateOptions {
  readonly namespaces?: readonly NamespaceView[];
  readonly tools?: readonly ToolView[];
  readonly declarations?: string;
  readonly run?: (program: string, options: RunOptions) => Promise<RunResult>;
  readonly call?: (tool: string, args: unknown) => CallResult;
  readonly read?: (handle: string) => ReadResult;
  readonly passThrough?: ReadonlyMap<string, SourcePassThrough>;
}

export function createFakeGate(options: FakeGateOptions = {}): FakeGate {
  const asked: FakeGate["asked"] = [];
  const listeners = new Set<(event: GateEvent) => void>();
  let namespaces = options.namespaces ?? [];
  const tools = options.tools ?? [];
  const note = (method: string, ...args: readonly unknown[]): void => void asked.push({ method, args });
  const unused = (): never => {
    throw new CallgateError("ASSERTION", "Not part of this test");
  };
  return {
    asked,
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    setNamespaces: (next) => {
      namespaces = next;
    },
    ready: () => Promise.resolve(),
    run: (program, runOptions = {}) => {
      note("run", program, runOptions);
      return options.run?.(program, runOptions) ?? Promise.resolve(completed("no value"));
    },
    check: unused,
    call: (tool, args, callOptions) => {
      note("call", tool, args, callOptions);
      return Promise.resolve(options.call?.(tool, args) ?? unused());
    },
    search: (query, searchOptions) => {
      note("search", query, searchOptions);
      return tools.filter((tool) => tool.spec.description.includes(query)).map((tool) => ({ ...tool, score: 1 }));
    },
    describe: (names) => tools.filter((tool) => names.includes(tool.name)),
    nearest: () => tools.map((tool) => tool.name).slice(0, 2),
    tools: () => tools,
    namespaces: () => namespaces,
    declarations: () => options.declarations ?? "",
    read: (handle, readOptions) => {
      note("read", handle, readOptions);
      return Promise.resolve(options.read?.(handle) ?? { kind: "error", error: { code: "HANDLE_NOT_FOUND", message: "No such handle", tool: "", retryable: false } });
    },
    runs: { list: unused, show: unused, replay: unused, prune: unused, erase: unused },
    events: unused,
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    passThrough: options.passThrough ?? new Map(),
    problems: [],
    close: () => Promise.resolve(),
  };
}

export function completed(value: unknown, more: Partial<RunResult> = {}): RunResult {
  return {
    runId: "run_1",
    status: "completed",
    value: { kind: "whole", value },
    text: [],
    console: [],
    consoleDroppedBytes: 0,
    diagnostics: [],
    repairs: [],
    calls: [],
    artifacts: [],
    notices: [],
    tokens: { result: 1, program: 1, direct: 1 },
    durationMs: 3,
    ...more,
  };
}

export function toolView(name: string, description: string): ToolView {
  const [namespace = "", member = ""] = name.split(".");
  return {
    name,
    namespace,
    line: description,
    signature: `${member}(args: { id: number }): Promise<string>`,
    definitionDigest: "sha256:1",
    interfaceDigest: "sha256:2",
    spec: { name: member, description, input: { type: "object" }, effect: "read", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1000, examples: [{ input: { id: 1 } }], errors: [{ code: "NOT_THERE", description: "No such record" }] },
  };
}

export function namespaceView(namespace: string, toolCount: number, purpose?: string): NamespaceView {
  return { namespace, kind: "functions", purpose, state: { kind: "ready" }, toolCount };
}
