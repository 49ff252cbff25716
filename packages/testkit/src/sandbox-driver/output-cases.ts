import { deepStrictEqual, ok } from "node:assert/strict";
import type { DriverCase } from "./driver-case.ts";
import { printed, startNamed } from "./guest-harness.ts";
import type { HarnessRun } from "./guest-harness.ts";

const filesOf = ({ outputs }: HarnessRun): readonly (readonly [string, string])[] => outputs.flatMap((output) => (output.kind === "artifact" ? [[output.artifact.name, Buffer.from(output.artifact.bytes).toString("utf8", 0, 100)] as const] : []));
const dropped = ({ outputs }: HarnessRun): number => outputs.reduce((sum, output) => sum + (output.kind === "console-dropped" ? output.droppedBytes : 0), 0);

/** What a program prints, says and writes. */
export const outputCases: readonly DriverCase[] = [
  {
    name: "case 56: what is printed on two streams is told apart, in the order it was written",
    programs: ["printBoth"],
    async run(world) {
      const run = startNamed(world, "printBoth");
      await run.ended;
      deepStrictEqual(run.outputs.map((output) => output.kind === "console" && [output.entry.level, output.entry.text]), [["log", "A"], ["error", "B"], ["log", "C"], ["error", "D"]]);
    },
  },
  {
    name: "case 57: output beyond consoleBytes is left out and counted to the byte",
    programs: ["printMany"],
    async run(world) {
      const run = startNamed(world, "printMany", { limits: { consoleBytes: 10_000 } });
      await run.ended;
      const entries = run.outputs.filter((output) => output.kind === "console").length;
      const told = Buffer.byteLength(printed(run)) + 1;
      ok(told <= 10_000 && told > 5_000, `${told} bytes were told`);
      // Where the cut falls inside a line, its line break is in neither part.
      ok(Math.abs(told + dropped(run) - 100_000) <= entries, `${told} told and ${dropped(run)} dropped of 100,000`);
      deepStrictEqual(run.outputs.at(-1)?.kind, "console-dropped");
    },
  },
  {
    name: "case 57: 20 MiB of output keep their beginning and their end, in bounded memory of the host",
    programs: ["printLarge"],
    timeoutMs: 60_000,
    async run(world) {
      const run = startNamed(world, "printLarge", { limits: { consoleBytes: 10_000 } });
      const end = await run.ended;
      deepStrictEqual(end.kind, "returned");
      const text = printed(run).replaceAll("\n", "");
      ok(text.startsWith("yyyy") && text.endsWith("yEND"), text.slice(-20));
      ok(Math.abs(Buffer.byteLength(text) + dropped(run) - (20 * (1 << 20) + 4)) <= 16, `${dropped(run)} dropped`);
    },
  },
  {
    name: "case 55: bytes that are no text, and a character cut in two, are read safely",
    programs: ["printBytes"],
    async run(world) {
      const run = startNamed(world, "printBytes");
      await run.ended;
      deepStrictEqual(printed(run), "a\ufffd😀b");
    },
  },
  {
    name: "case 59: there is no input: reading it ends at once",
    programs: ["readInput"],
    async run(world) {
      const run = startNamed(world, "readInput");
      await run.ended;
      deepStrictEqual(printed(run, "log"), "got 0");
    },
  },
  {
    name: "case 58: the environment of the host is not the program's",
    programs: ["printEnvironment"],
    async run(world) {
      process.env["OPENAI_API_KEY"] = "canary-7f3a";
      try {
        const run = startNamed(world, "printEnvironment");
        await run.ended;
        ok(printed(run).includes("PATH") && !printed(run).includes("canary-7f3a"), printed(run));
      } finally {
        delete process.env["OPENAI_API_KEY"];
      }
    },
  },
  {
    name: "text() and progress() are told",
    programs: ["say"],
    async run(world) {
      const run = startNamed(world, "say");
      await run.ended;
      deepStrictEqual(run.outputs, [{ kind: "text", text: "a" }, { kind: "progress", message: "half", fraction: 0.5 }]);
    },
  },
  {
    name: "files of out/ come back with their names and types",
    programs: ["writeFiles"],
    needs: "artifacts",
    async run(world) {
      const run = startNamed(world, "writeFiles");
      await run.ended;
      deepStrictEqual(filesOf(run), [["a.txt", "hello"], ["deep/b.json", "{}"]]);
      deepStrictEqual(run.outputs.map((output) => output.kind === "artifact" && output.artifact.mimeType), ["text/plain", "application/json"]);
    },
  },
  {
    name: "links and pipes of out/ are not followed",
    programs: ["writeOdd"],
    needs: "artifacts",
    async run(world) {
      const run = startNamed(world, "writeOdd");
      await run.ended;
      deepStrictEqual(filesOf(run), [["good.txt", "good"]]);
    },
  },
  {
    name: "files over the driver's bound are left out, and the program is told",
    programs: ["writeLarge"],
    needs: "artifacts",
    async run(world) {
      const run = startNamed(world, "writeLarge");
      deepStrictEqual((await run.ended).kind, "returned");
      deepStrictEqual(filesOf(run), []);
      ok(printed(run).includes("left out"), printed(run));
    },
  },
];
