import type { GuestConsoleEntry } from "@callgate/contract";
import type { OutputPart, PrintedOutput } from "./code-block.ts";

type Stream = OutputPart["stream"];

/** A console entry as part of a stream: warnings and errors of a console go where those of other languages go. */
export function partOf({ level, text, partial }: GuestConsoleEntry): OutputPart {
  return { stream: level === "error" || level === "warn" ? "stderr" : "stdout", text: partial === true ? text : `${text}\n` };
}

/** Puts what was printed together again, per stream and as it came. Where output was left out, a mark says how much. */
export function printedOutput(entries: readonly GuestConsoleEntry[], droppedBytes: number): PrintedOutput {
  const output: { stream: Stream; text: string }[] = [];
  const texts: Record<Stream, string> = { stdout: "", stderr: "" };
  /** The streams whose gap was not marked yet; both have one at the same place. */
  const unmarked = new Set<Stream>();
  let mark = "";
  for (const entry of entries) {
    const { stream, text } = partOf(entry);
    const isGap = entry.droppedBefore !== undefined;
    if (isGap) {
      mark = gapMark(entry.droppedBefore ?? 0);
      for (const one of ["stdout", "stderr"] as const) unmarked.add(one);
    }
    texts[stream] += unmarked.delete(stream) ? `${breakAfter(texts[stream])}${mark}${text}` : text;
    const last = output.at(-1);
    const added = isGap ? `${breakAfter(last?.text ?? "")}${mark}${text}` : text;
    if (last?.stream === stream) last.text += added;
    else output.push({ stream, text: added });
  }
  return { ...texts, output, truncated: droppedBytes > 0, droppedBytes };
}

function gapMark(bytes: number): string {
  return `… ${bytes} bytes of output left out …\n`;
}

function breakAfter(text: string): string {
  return text === "" || text.endsWith("\n") ? "" : "\n";
}

/** The output of several blocks after each other. */
export function joinOutput(parts: readonly PrintedOutput[]): PrintedOutput {
  return {
    stdout: parts.map(({ stdout }) => stdout).join(""),
    stderr: parts.map(({ stderr }) => stderr).join(""),
    output: parts.flatMap(({ output }) => output),
    truncated: parts.some(({ truncated }) => truncated),
    droppedBytes: parts.reduce((sum, { droppedBytes }) => sum + droppedBytes, 0),
  };
}
