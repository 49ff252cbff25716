import type { CheckReport, CheckRequest } from "@callgate/contract";

/** A program that is refused as a whole, whatever it says. */
export function rejectWhole(code: string, message: string, startedMs: number): CheckReport {
  return { kind: "rejected", diagnostics: [{ severity: "error", code, message, line: 1, column: 1 }], repairs: [], durationMs: performance.now() - startedMs };
}

/** Undefined when the text is within its bound. */
export function rejectTooLarge({ text, limits }: CheckRequest, startedMs: number): CheckReport | undefined {
  const bytes = Buffer.byteLength(text);
  return bytes > limits.sourceBytes ? rejectWhole("SOURCE_TOO_LARGE", `The program has ${bytes} bytes; at most ${limits.sourceBytes} are accepted (limit sourceBytes)`, startedMs) : undefined;
}
