import type { AgentEvent } from "./agent-event.ts";
import type { AgentStream } from "./agent.ts";
import type { AgentResult } from "./agent-result.ts";

/** Runs something that tells events, and hands them to whoever iterates. */
export function eventStream(start: (hear: (event: AgentEvent) => void, stop: AbortSignal) => Promise<AgentResult>): AgentStream {
  const stopping = new AbortController();
  const waiting: AgentEvent[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const result = start((event) => {
    waiting.push(event);
    wake();
  }, stopping.signal);
  // Whoever iterates, or awaits `result`, hears of a fault; it is unhandled for nobody else.
  const ended = result.then(() => undefined, () => undefined).then(() => {
    isOver = true;
    wake();
  });

  async function* iterate(): AsyncGenerator<AgentEvent, void, undefined> {
    try {
      for (;;) {
        const event = waiting.shift();
        if (event !== undefined) yield event;
        else if (isOver) break;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
      await result;
    } finally {
      stopping.abort(new DOMException("Nobody listens any more", "AbortError"));
      await ended;
    }
  }

  return { result, [Symbol.asyncIterator]: iterate };
}
