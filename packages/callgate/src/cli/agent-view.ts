import type { AgentEvent } from "@callgate/agent";
import { cut, duration, visible } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";

/** Lines of a program that are shown. */
const maxCodeLines = 20;

/** Shows what an agent does, while it does it: programs, calls, questions, tokens. Nothing of it is data. */
export function createAgentView(terminal: Pick<Terminal, "err" | "colors" | "columns">): (event: AgentEvent) => void {
  const { colors } = terminal;
  const line = (text: string): void => terminal.err(`${cut(text, terminal.columns)}\n`);
  return (event) => {
    switch (event.kind) {
      case "model-start":
        return line(colors.dim(`turn ${event.turn} · ${event.model} · about ${event.promptTokens} tokens`));
      case "model-retry":
        return line(colors.yellow(`asking again: ${visible(event.reason)}`));
      case "model-end":
        return event.text.trim() === "" || event.finishReason === "stop" ? undefined : line(visible(event.text.trim().replaceAll("\n", " ")));
      case "code-generation":
        return codeLines(event.code).forEach(line);
      case "code-execution":
        return line(`${event.status === "completed" ? colors.green("✓") : colors.red("✗")} program ${event.status}${event.effectStatus === "none" ? "" : colors.cyan(` effect ${event.effectStatus}`)}`);
      case "tool-call-progress":
        return line(colors.dim(`  ${event.tool}: ${visible(event.message)}`));
      case "tool-call-execution":
        return event.results.filter(({ tool }) => tool !== "execute_code").forEach(({ tool, status, effectStatus, durationMs, text }) => line(`${markOf(status, colors)} ${tool}${effectStatus === "none" ? "" : colors.cyan(` effect ${effectStatus}`)} ${colors.dim(duration(durationMs))} ${colors.dim(visible(text.replaceAll("\n", " ")))}`));
      case "approval-requested":
        return line(colors.yellow(`? ${event.question.tool} asks: ${event.question.approvalId}`));
      case "approval-answered":
        return line(colors.yellow(`${event.approved ? "approved" : "denied"} by ${visible(event.by)}`));
      case "handoff":
        return line(`→ ${event.to}${event.ignored === true ? " (ignored)" : ""}`);
      case "repair":
        return line(colors.yellow(`repair ${event.attempt} of ${event.maxAttempts}`));
      case "escalation":
        return line(colors.red("a person is needed"));
      case "history-compacted":
        return line(colors.dim(`history: about ${event.tokensBefore} tokens, now ${event.tokensAfter}`));
      case "budget-reached":
        return line(colors.yellow(`budget of ${event.limit} ${event.budget} is used up`));
      case "model-delta":
      case "tool-call-request":
      case "question-asked":
      case "question-answered":
      case "final":
    }
  };

  function codeLines(code: string): readonly string[] {
    const lines = code.trim().split("\n");
    return [...lines.slice(0, maxCodeLines).map((text) => colors.dim(`  │ ${visible(text)}`)), ...(lines.length > maxCodeLines ? [colors.dim(`  │ and ${lines.length - maxCodeLines} more lines`)] : [])];
  }
}

function markOf(status: string, colors: Terminal["colors"]): string {
  if (status === "ok") return colors.green("✓");
  return status === "waiting" || status === "not_executed" ? colors.yellow("⊘") : colors.red("✗");
}
