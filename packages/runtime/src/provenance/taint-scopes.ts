import type { Journal, Principal, RunEdit, RunStart, TaintScope } from "@callgate/contract";

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
}

/** Where the labels of a run gather, itself first. */
export function taintScopes({ runId, principal, taskId, conversation, session, edits }: Part): readonly TaintScope[] {
  const { user } = principal;
  return [
    { kind: "run", user: "", id: runId },
    ...(edits === undefined ? [] : [{ kind: "run", user: "", id: edits.runId } as const]),
    ...(taskId === undefined ? [] : [{ kind: "task", user, id: taskId } as const]),
    ...conversationScopes(principal, conversation),
    ...(session === undefined ? [] : [{ kind: "session", user, id: `${session.sessionId}/${session.generation}` } as const]),
  ];
}

/** Where the labels gather of those on whose behalf a run runs: what it reads is read by them, and by what they are part of. */
export async function outerScopes(journal: Pick<Journal, "readRun">, { principal: { tenant }, parent }: Pick<RunStart, "principal"> & { readonly parent?: RunStart["parent"] | undefined }): Promise<readonly TaintScope[]> {
  const outer = parent === undefined ? undefined : await journal.readRun(tenant, parent.runId);
  return outer === undefined ? [] : [...taintScopes(outer), ...(await outerScopes(journal, outer))];
}
