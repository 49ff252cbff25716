import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { httpTool } from "callgate";
import { extractText } from "unpdf";
import { z } from "zod";
import { checkEqual, programScript } from "../shared/job.ts";
import type { Check, Job, OpenJob } from "../shared/job.ts";
import { startJsonService } from "../shared/json-service.ts";
import { noTrouble, plantFiles } from "../shared/trouble.ts";
import { reportTools } from "./report-tools.ts";
import { createSales } from "./sales.ts";

const program = readFileSync(join(import.meta.dirname, "programs", "report.ts"), "utf8");
const notice = z.object({ channel: z.string(), text: z.string(), attachment: z.string() });
const ordersPerWeek = { tiny: 40, small: 400, full: 40_000 } as const;

/** Orders become a report: queried, summed up, drawn, set as a PDF, and announced once. */
export const job: Job = {
  name: "weekly-report",
  task: "Report on the last week of sales: revenue of paid orders by region against the week before, with a bar chart (week-48.svg) of the last six weeks by region. Set it as week-48.pdf, with the total in words like `Revenue of week 48: 123.45 EUR`, the regions that fell, and a table of region, this week and last week. Then announce it once in the channel sales, with the PDF attached.",
  async open({ folder, scale, openGate, trouble = noTrouble }): Promise<OpenJob> {
    createSales(join(folder, "sales.db"), ordersPerWeek[scale] * trouble.times);
    const reports = join(folder, "reports");
    mkdirSync(reports);
    plantFiles(folder, trouble);
    const sent: z.infer<typeof notice>[] = [];
    const service = await startJsonService(({ method, body }) => {
      if (method !== "POST") return { status: 405, body: { message: "post a notice" } };
      sent.push(notice.parse(body));
      return { status: 201, body: { sent: true } };
    }, trouble.services);
    const gate = await openGate({
      sql: { sales: { file: "sales.db", readOnly: true } },
      tools: { reports: reportTools(reports), notices: [httpTool({ name: "send", description: "Sends a notice to a channel of people.", method: "POST", url: `${service.url}/notices`, input: notice, output: z.object({ sent: z.boolean() }) })] },
      rules: [{ allow: ["sales.*", "reports.*"] }, { id: "own-channel", allow: "notices.send", when: { args: { "/channel": "sales" } } }],
    });
    return {
      gate,
      program,
      script: programScript("I sum up the orders, draw the last weeks, set the report and announce it.", program, "The report of week 48 is set and announced."),
      check: async () => await checks({ database: join(folder, "sales.db"), reports, sent }),
      state: () => ({ files: readdirSync(reports).sort(), notices: sent.map((one) => ({ ...one })) }),
      close: () => service.close(),
    };
  },
};

/** The numbers are worked out from the database again, and looked for in what was really set. */
async function checks({ database, reports, sent }: { readonly database: string; readonly reports: string; readonly sent: readonly z.infer<typeof notice>[] }): Promise<readonly Check[]> {
  const sales = new DatabaseSync(database, { readOnly: true });
  const revenue = sales.prepare("SELECT region, week, sum(cents) AS cents FROM orders WHERE state = 'paid' AND week >= 47 GROUP BY region, week").all();
  sales.close();
  const cells = revenue.map(({ cents }) => euro(Number(cents)));
  const total = euro(revenue.filter(({ week }) => week === 48).reduce((sum, { cents }) => sum + Number(cents), 0));
  const text = await textOf(join(reports, "week-48.pdf"));
  const svg = existsSync(join(reports, "week-48.svg")) ? readFileSync(join(reports, "week-48.svg"), "utf8") : "";
  return [
    checkEqual("the PDF says the total", text.includes(`Revenue of week 48: ${total}`), true),
    checkEqual("it has every number of the table", cells.filter((cell) => !text.includes(cell)), []),
    checkEqual("it says what fell", /West/.test(text), true),
    checkEqual("the chart is a picture of six weeks", ["W43", "W44", "W45", "W46", "W47", "W48"].filter((week) => !svg.includes(`>${week}<`)), []),
    checkEqual("it was announced once, with the PDF", sent.map(({ channel, attachment }) => `${channel} ${attachment}`), ["sales week-48.pdf"]),
    checkEqual("the notice says the total", sent.every((one) => one.text.includes(total)), true),
  ];
}

async function textOf(file: string): Promise<string> {
  if (!existsSync(file)) return "";
  const { text } = await extractText(new Uint8Array(readFileSync(file)), { mergePages: true });
  return text.replace(/\s+/g, " ");
}

function euro(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")} EUR`;
}
