import type { ApprovalQuestion, JsonObject } from "@callgate/contract";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { ClientProfile } from "./client-profile.ts";

/** What one of our tools answers, before it is put into a client's form. */
export interface Answer {
  /** Complete by itself. */
  readonly text: string;
  /** Complete by itself; matches the tool's output schema. Absent only for errors before the tool did anything. */
  readonly structured?: JsonObject;
  /** Pictures, sounds and links to files. */
  readonly blocks?: readonly ContentBlock[];
  readonly isError?: boolean;
  /** Questions of a run that the person in front of the client can answer now. */
  readonly asks?: { readonly runId: string; readonly questions: readonly ApprovalQuestion[] };
}

/** Puts an answer into the form its client can use. */
export function toCallToolResult(answer: Answer, form: ClientProfile["form"]): CallToolResult {
  return {
    content: [{ type: "text", text: answer.text }, ...(answer.blocks ?? [])],
    ...(form === "both" && answer.structured !== undefined ? { structuredContent: answer.structured } : {}),
    ...(answer.isError === true ? { isError: true } : {}),
  };
}
