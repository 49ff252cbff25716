import type { Recording } from "@callgate/contract";

/** A recording as a vitest test that stands alone: it needs `callgate` and `vitest`, and reaches no tool, network or database. */
export function recordingTest(recording: Recording): string {
  const { program, ...rest } = recording;
  const calls = recording.answers.flatMap((answer) => (answer.kind === "tool" ? [answer] : [])).sort((a, b) => a.seq - b.seq).map(({ tool }) => tool);
  const hidden = recording.placeholders === 0 ? "" : `\n// ${recording.placeholders === 1 ? "One sensitive value is a placeholder" : `${recording.placeholders} sensitive values are placeholders`} in it.`;
  return `// Run ${recording.runId} of ${new Date(recording.startedAtMs).toISOString().slice(0, 10)}, written by callgate runs export.
// The program is executed again with its recorded answers: no tool, network or database is reached.${hidden}
import { replayRecording } from "callgate/testing";
import type { Recording } from "callgate/testing";
import { expect, test } from "vitest";

const program = ${templateLiteral(program)};

const recording: Recording = { ...${JSON.stringify(rest, undefined, 2)}, program };

// The first program of a process waits for the checker to load.
test(${JSON.stringify(titleOf(recording))}, { timeout: 120_000 }, async () => {
  expect(await replayRecording(recording)).toEqual({ ...recording.end, calls: ${JSON.stringify(calls)}, unused: [] });
});
`;
}

function titleOf({ runId, tools }: Recording): string {
  const names = tools.map(({ name }) => name);
  return `${runId} replays${names.length === 0 ? "" : ` (${names.slice(0, 5).join(", ")}${names.length > 5 ? ", ..." : ""})`}`;
}

function templateLiteral(text: string): string {
  return `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${").replaceAll("\r", "\\r")}\``;
}
