import type { Principal, RunEdit, RunParent, RunStart, TaintScope } from "@callgate/contract";

/** Where labels gather of what a conversation reads beside its runs. */
export function conversationScopes({ user }: Principal, conversation: string | undefined): readonly TaintScope[] {
  return conversation === undefined ? [] : [{ kind: "conversation", user, id: conversation }];
}

/** What a run is part of. */
interface Part extends Pick<RunStart, "runId" | "principal"> {
  readonly taskId?: string | undefined;
  readonly conversation?: string | undefined;
  readonly session?: RunStart["session"] | undefined;
  /** A changed program has read what the run has whose answers it gets. */
  readonly edits?: Pick<RunEdit, "runId"> | undefined;
  /** What is read on behalf of a run's call is read by that run. */
  readonly parent?: Pick<RunParent, "runId"> | undefined;
}

/** Where the labels of a run gather, itself first. */
export function taintScopes({ runId, principal, taskId, conversation, session, edits, parent }: Part): readonly TaintScope[] {
  const { user } = principal;
  return [
    { kind: "run", user: "", id: runId },
    ...(parent === undefined ? [] : [{ kind: "run", user: "", id: parent.runId } as const]),
    ...(edits === undefined ? [] : [{ kind: "run", user: "", id: edits.runId } as const]),
    ...(taskId === undefined ? [] : [{ kind: "task", user, id: taskId } as const]),
    ...conversationScopes(principal, conversation),
    ...(session === undefined ? [] : [{ kind: "session", user, id: `${session.sessionId}/${session.generation}` } as const]),
  ];
}
