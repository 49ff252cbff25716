import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, ToolError } from "callgate";
import type { Gate, Tool } from "callgate";
import { z } from "zod";
import { checkEqual } from "../shared/job.ts";
import type { CannotRun, Check, Job, OpenJob } from "../shared/job.ts";
import { noTrouble, plantFiles } from "../shared/trouble.ts";
import { closings, expectedRow, marketTools, orderTool } from "./market.ts";
import type { Closing, Order } from "./market.ts";

const analysis = readFileSync(join(import.meta.dirname, "programs", "analysis.py"), "utf8");
const sizes = { tiny: { symbols: 2, days: 80 }, small: { symbols: 3, days: 250 }, full: { symbols: 30, days: 2_500 } } as const;

/** A tool gives prices, Python that the model wrote works out averages with pandas, draws them and writes a report. */
export const job: Job = {
  name: "data-analysis",
  task: "For every share of the market: the last close, the mean of the last 50 days, and how often the mean of 10 days crossed that of 50 days upwards (days without a mean of 50 days count as not above). Write report.md with a table of share, last close (2 digits), mean of 50 days (4 digits) and crossings, and draw the means of 50 days of all shares into means.png, both in the working folder.",
  mode: "blocks",
  languages: ["python"],
  async open({ folder, scale, openGate, trouble = noTrouble }): Promise<OpenJob | CannotRun> {
    const { symbols, days } = sizes[scale];
    const market = closings(symbols, days * trouble.times);
    const orders: Order[] = [];
    const workDir = join(folder, "work");
    mkdirSync(workDir);
    // Started by root, programs are another user, who has to come to the folder and write there.
    chmodSync(folder, 0o711);
    chmodSync(workDir, 0o777);
    plantFiles(folder, trouble);
    const gate: Gate = await openGate({
      tools: { market: [...marketTools(market), orderTool(orders)], python: [runPython(() => gate)] },
      // It may look at everything and buy nothing.
      rules: [{ allow: ["market.symbols", "market.closing_prices", "python.run"] }],
      sandbox: { mounts: [{ host: workDir, guest: "/workspace", mode: "rw" }], environment: { HOME: "/tmp" } },
      python: { modules: ["pandas", "matplotlib"] },
      limits: { memoryMiB: 768, cpuMs: 120_000, wallMs: 120_000 },
    });
    // A case of a suite that needs neither does without the second it takes to load them.
    const { status, error } = await gate.run(scale === "tiny" ? "1" : "import pandas, matplotlib", { language: "python" });
    if (status !== "completed") return { missing: `needs bubblewrap and Debian's python3-pandas and python3-matplotlib (${error?.message ?? "no reason"})` };
    return {
      gate,
      script: [`I work it out with pandas.\n\n\`\`\`python\n${analysis}\`\`\``, "The report and the picture are there."],
      program: `import { python } from "tools";\nreturn await python.run({ code: ${JSON.stringify(analysis)} });`,
      check: () => checks(workDir, market),
      state: () => ({ files: Object.fromEntries(readdirSync(workDir).sort().map((name) => [name, name.endsWith(".md") ? readFileSync(join(workDir, name), "utf8") : "a file"])), orders: orders.map((one) => ({ ...one })) }),
      close: () => Promise.resolve(),
    };
  },
};

/** Python for clients that send TypeScript only. The program meets the same sandbox and the same gate. */
function runPython(gate: () => Gate): Tool {
  return defineTool({
    name: "run",
    description: "Runs a Python program with pandas and matplotlib in a sandbox; `from tools import market` has the prices. Files written beside it are kept.",
    effect: "write",
    timeoutMs: 180_000,
    input: z.strictObject({ code: z.string().min(1) }),
    output: z.object({ printed: z.string(), value: z.unknown() }),
    errors: [{ code: "PROGRAM_FAILED", description: "The message says where" }],
    async handler({ code }, { signal }) {
      const { status, console: printed, value, error, diagnostics } = await gate().run(code, { language: "python", signal });
      if (status !== "completed") throw new ToolError({ code: "PROGRAM_FAILED", message: error?.message ?? diagnostics[0]?.message ?? status });
      return { printed: printed.map(({ text }) => text).join("\n"), value: value?.kind === "whole" ? value.value : null };
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
