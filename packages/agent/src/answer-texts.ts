import type { AgentStop, CallReport } from "./agent-result.ts";

const defaultLine = "- {tool} ({status}): {result}";
/** Of one result in a summary, and calls that are told one by one. */
const [resultChars, maxLines] = [300, 50];

/** Why a run ended, and what its calls came to, where the model has not said it. Never empty. */
export function stopText(stop: AgentStop, calls: readonly CallReport[], line: string = defaultLine): string {
  const results = summaryLines(calls, line);
  return [reasonText(stop), ...(results.length === 0 ? [] : ["Results so far:", ...results])].join("\n");
}

/** Values are put in as they are: what looks like a placeholder in one is text. */
function summaryLines(calls: readonly CallReport[], line: string): readonly string[] {
  const told = calls.slice(-maxLines).map(({ tool, status, text }) => {
    const values = { tool, status, result: text.length > resultChars ? `${text.slice(0, resultChars)}…` : text };
    return line.replace(/\{(tool|status|result)\}/g, (_whole, name: keyof typeof values) => values[name]);
  });
  return calls.length > maxLines ? [`(${calls.length - maxLines} earlier calls are left out)`, ...told] : told;
}

function reasonText(stop: AgentStop): string {
  switch (stop.kind) {
    case "answered":
      return "The task has ended.";
    case "budget":
      return `Stopped: the budget of ${stop.limit} ${budgetWords[stop.budget]} is used up, and the task may not be done.`;
    case "suspended":
      return `Waiting for a person: ${stop.waits.map((wait) => (wait.kind === "question" ? wait.question.question : `${wait.tool} needs an approval`)).join("; ")}`;
    case "escalated":
      return `A person is needed: ${stop.item.errors.at(-1) ?? "the task could not be done as it was tried"}`;
    case "defaulted":
      return "The task could not be done; this is the declared default.";
    case "taken_over":
      return "A person has taken over.";
    case "aborted":
      return "A person has ended the task.";
    case "cancelled":
      return "The task was cancelled.";
    case "failed":
      return stop.error.message;
  }
}

export const budgetWords = { turns: "turns", toolCalls: "calls", tokens: "tokens", microUsd: "millionths of a US dollar", wallMs: "milliseconds", errors: "failed turns in a row" } as const;
