import { randomUUID } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { z } from "zod";
import type { OpenCall, SessionState, SpentBudget } from "./session-state.ts";

/** A conversation under way. What is in it can be saved after every turn. */
export interface Session {
  readonly sessionId: string;
  /** Who has the word. */
  agent: string;
  task: string;
  messages: LanguageModelV4Message[];
  readonly briefs: Map<string, string>;
  open: readonly OpenCall[];
  selected: readonly string[] | undefined;
  /** By the task under way, in the runs before this one. */
  spent: SpentBudget;
}

export const nothingSpent: SpentBudget = { turns: 0, toolCalls: 0, tokens: 0, microUsd: 0 };

export function newSession(agent: string): Session {
  return { sessionId: `ses_${randomUUID().replaceAll("-", "")}`, agent, task: "", messages: [], briefs: new Map(), open: [], selected: undefined, spent: nothingSpent };
}

/**
 * A copy: what is saved is not changed by what comes after.
 *
 * @param spent by the task, this run included
 */
export function saveSession({ sessionId, agent, task, messages, briefs, open, selected }: Session, spent: SpentBudget): SessionState {
  return structuredClone({ version: 1, sessionId, agent, task, messages, briefs: Object.fromEntries(briefs), open, ...(selected === undefined ? {} : { selected }), spent });
}

const message = z.looseObject({ role: z.enum(["user", "assistant", "tool"]), content: z.array(z.looseObject({ type: z.string() })) });
const stateShape = z.looseObject({
  version: z.literal(1),
  sessionId: z.string().min(1).max(200),
  agent: z.string(),
  task: z.string(),
  messages: z.array(message),
  briefs: z.record(z.string(), z.string()),
  open: z.array(z.looseObject({ callId: z.string(), name: z.string() })),
  selected: z.array(z.string()).optional(),
  spent: z.looseObject({ turns: z.number().min(0), toolCalls: z.number().min(0), tokens: z.number().min(0), microUsd: z.number().min(0) }).optional(),
});

/**
 * Takes a saved conversation up, as it came out of JSON.
 *
 * Errors: `CallgateError` USAGE where it is none, or of another version.
 */
export function loadSession(state: unknown): Session {
  const read = stateShape.safeParse(state);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new CallgateError("USAGE", `This is no saved conversation of an agent: ${issue === undefined ? "" : `/${issue.path.join("/")}: ${issue.message}`}`);
  }
  // Messages are the provider's; what they hold beyond their role goes back to it as it came.
  const { sessionId, agent, task, messages, briefs, open, selected, spent = nothingSpent } = structuredClone(state as SessionState);
  return { sessionId, agent, task, messages: [...messages], briefs: new Map(Object.entries(briefs)), open, selected, spent };
}
