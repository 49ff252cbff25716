import { ToolError } from "@callgate/contract";
import type { Artifact, ArtifactInput, JsonObject, Principal, ToolContext, ToolLogger } from "@callgate/contract";
import type { ReadyCall } from "./call.ts";
import { freezeArguments } from "./frozen-arguments.ts";

export interface ContextInit {
  readonly signal: AbortSignal;
  /** Keeps a file of this attempt; undefined where a hook may not make any. */
  readonly store: ((artifact: ArtifactInput) => Promise<Artifact>) | undefined;
}

/** What a tool's code is given beside its arguments. Once the call is over it can log, and nothing else. */
export function createToolContext(call: ReadyCall, { signal, store }: ContextInit): ToolContext {
  const { seams, request, safe } = call;
  return Object.freeze<ToolContext>({
    signal,
    // The run's own object decides about later calls; a tool gets a copy it cannot write to.
    principal: freezeArguments(request.principal).value as Principal,
    runId: request.runId,
    callId: request.callId,
    idempotencyKey: call.idempotencyKey,
    log: createLogger(call),
    progress(message, fraction) {
      if (call.state.over || signal.aborted) return;
      seams.emit({
        kind: "call-progressed",
        atMs: seams.clock.now(),
        runId: request.runId,
        principal: request.principal,
        callId: request.callId,
        tool: call.tool.name,
        message: safe.text(String(message)),
        ...(typeof fraction === "number" && fraction >= 0 && fraction <= 1 ? { fraction } : {}),
      });
    },
    attach(artifact) {
      const stored = attachOrRefuse(call, { signal, store }, artifact);
      // A handler that does not wait for its file must not end the process when the file is lost.
      stored.catch(() => undefined);
      return stored;
    },
  });
}

async function attachOrRefuse(call: ReadyCall, { signal, store }: ContextInit, artifact: ArtifactInput): Promise<Artifact> {
  if (store === undefined) throw new ToolError({ code: "TOOL_FAILED", message: "A precheck cannot attach files: it must not change anything", notApplied: true });
  if (call.state.over || signal.aborted) throw new ToolError({ code: "CANCELLED", message: "The call is over; the file was not kept" });
  return await store(artifact);
}

function createLogger(call: ReadyCall): ToolLogger {
  const { seams, request, safe, tool } = call;
  const write = (level: keyof ToolLogger) => (message: string, fields?: JsonObject) => {
    const plain = fields === undefined ? undefined : safe.json(fields);
    seams.log?.({
      level,
      message: safe.text(String(message)),
      ...(plain === undefined ? {} : { fields: plain }),
      atMs: seams.clock.now(),
      runId: request.runId,
      callId: request.callId,
      tool: tool.name,
    });
  };
  return Object.freeze({ debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") });
}
