import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createCodeExecutor, defineTool, ToolError } from "callgate";
import type { CodeExecutor } from "callgate";
import { z } from "zod";
import { checkEqual } from "../shared/job.ts";
import type { CannotRun, Check, Job, OpenJob } from "../shared/job.ts";
import { closings, expectedRow, marketTools } from "./market.ts";
import type { Closing } from "./market.ts";

const analysis = readFileSync(join(import.meta.dirname, "programs", "analysis.py"), "utf8");
const sizes = { small: { symbols: 3, days: 250 }, full: { symbols: 30, days: 2_500 } } as const;

/** A tool gives prices, Python that the model wrote works out averages with pandas, draws them and writes a report. */
export const job: Job = {
  name: "data-analysis",
  task: "For every share of the market: the last close, the mean of the last 50 days, and how often the mean of 10 days crossed that of 50 days upwards (days without a mean of 50 days count as not above). Write report.md with a table of share, last close (2 digits), mean of 50 days (4 digits) and crossings, and draw the means of 50 days of all shares into means.png, both in the working folder.",
  mode: "blocks",
  languages: ["python"],
  async open({ folder, scale }): Promise<OpenJob | CannotRun> {
    const { symbols, days } = sizes[scale];
    const market = closings(symbols, days);
    const executor: CodeExecutor = await createCodeExecutor({
      stateFolder: join(folder, "state"),
      tools: { market: marketTools(market), python: [runPython(() => executor)] },
      rules: [{ allow: "*" }],
      python: { modules: ["pandas", "matplotlib"] },
      limits: { memoryMiB: 768 },
      timeoutMs: 120_000,
    });
    const probe = await executor.execute([{ language: "python", code: "import pandas, matplotlib" }]);
    if (probe.exitCode !== 0) {
      await executor.close();
      return { missing: `needs bubblewrap and Debian's python3-pandas and python3-matplotlib (${probe.blocks[0]?.error?.message ?? "no reason"})` };
    }
    return {
      gate: executor.gate,
      script: [`I work it out with pandas.\n\n\`\`\`python\n${analysis}\`\`\``, "The report and the picture are there."],
      program: `import { python } from "tools";\nreturn await python.run({ code: ${JSON.stringify(analysis)} });`,
      check: () => checks(executor.workDir, market),
      close: () => executor.close(),
    };
  },
};

/** Python for clients that send TypeScript only. The program meets the same sandbox and the same gate. */
function runPython(executor: () => CodeExecutor) {
  return defineTool({
    name: "run",
    description: "Runs a Python program with pandas and matplotlib in a sandbox; `from tools import market` has the prices. Files written beside it are kept.",
    effect: "write",
    timeoutMs: 180_000,
    input: z.strictObject({ code: z.string().min(1) }),
    output: z.object({ printed: z.string(), value: z.unknown() }),
    errors: [{ code: "PROGRAM_FAILED", description: "The message says where" }],
    async handler({ code }, { signal }) {
      const { exitCode, text, stdout, value } = await executor().execute([{ language: "python", code }], { signal });
      if (exitCode !== 0) throw new ToolError({ code: "PROGRAM_FAILED", message: text });
      return { printed: stdout, value: value?.kind === "whole" ? value.value : null };
    },
  });
}

function checks(workDir: string, market: ReadonlyMap<string, readonly Closing[]>): readonly Check[] {
  const read = (name: string): Buffer => (existsSync(join(workDir, name)) ? readFileSync(join(workDir, name)) : Buffer.alloc(0));
  const report = read("report.md").toString();
  const missing = [...market].filter(([symbol, prices]) => {
    const { last, mean50, crossings } = expectedRow(prices);
    return !report.includes(`| ${symbol} | ${last.toFixed(2)} | ${mean50.toFixed(4)} | ${crossings} |`);
  });
  return [
    checkEqual("the report has a row for every share, with the numbers worked out here", missing.map(([symbol]) => symbol), []),
    checkEqual("the picture is one", read("means.png").subarray(1, 4).toString(), "PNG"),
  ];
}
