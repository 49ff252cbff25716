import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, ToolError } from "callgate";
import type { Tool } from "callgate";
import * as echarts from "echarts";
import pdfmake from "pdfmake";
import { z } from "zod";

const fileName = (ending: string): z.ZodString => z.string().regex(new RegExp(`^[a-z0-9-]+\\.${ending}$`), `is a name such as revenue.${ending}`);
/** Of every PDF reader: no font file is loaded. */
const helvetica = { Helvetica: { normal: "Helvetica", bold: "Helvetica-Bold", italics: "Helvetica-Oblique", bolditalics: "Helvetica-BoldOblique" } };
const width = 520;
const height = 260;

/** Draws charts and sets reports, each into one folder. */
export function reportTools(folder: string): readonly Tool[] {
  pdfmake.addFonts(helvetica);
  // What a model writes into a report is text, never an address that is fetched or a file that is read.
  pdfmake.setUrlAccessPolicy(() => false);
  pdfmake.setLocalAccessPolicy((path) => Object.values(helvetica.Helvetica).includes(path));
  return [
    defineTool({
      name: "chart",
      description: "Draws a bar chart into a file: one group of bars for each label, one bar of it for each series.",
      effect: "write",
      idempotent: true,
      input: z.strictObject({ file: fileName("svg"), title: z.string(), labels: z.array(z.string()).min(1), series: z.array(z.strictObject({ name: z.string(), values: z.array(z.number()) })).min(1) }),
      output: z.object({ file: z.string(), bars: z.number() }),
      handler({ file, title, labels, series }) {
        const odd = series.find(({ values }) => values.length !== labels.length);
        if (odd !== undefined) throw new ToolError({ code: "UNEVEN", message: `${odd.name} has ${odd.values.length} values for ${labels.length} labels`, notApplied: true });
        writeFileSync(join(folder, file), svgOf({ title, labels, series }));
        return { file, bars: labels.length * series.length };
      },
    }),
    defineTool({
      name: "pdf",
      description: "Sets a report: a title, paragraphs, a chart drawn before, and a table.",
      effect: "write",
      idempotent: true,
      input: z.strictObject({ file: fileName("pdf"), title: z.string(), paragraphs: z.array(z.string()), chart: fileName("svg").optional(), table: z.strictObject({ head: z.array(z.string()).min(1), rows: z.array(z.array(z.string())) }).optional() }),
      output: z.object({ file: z.string(), bytes: z.number() }),
      async handler({ file, title, paragraphs, chart, table }) {
        const document = pdfmake.createPdf({
          info: { title },
          defaultStyle: { font: "Helvetica", fontSize: 10 },
          content: [
            { text: title, fontSize: 18, margin: [0, 0, 0, 12] },
            ...paragraphs.map((text) => ({ text, margin: [0, 0, 0, 6] as [number, number, number, number] })),
            ...(chart === undefined ? [] : [{ svg: readFileSync(join(folder, chart), "utf8"), width: 500 }]),
            ...(table === undefined ? [] : [{ table: { headerRows: 1, body: structuredClone([table.head, ...table.rows]) } }]),
          ],
        });
        const bytes = await document.getBuffer();
        writeFileSync(join(folder, file), bytes);
        return { file, bytes: bytes.length };
      },
    }),
  ];
}

/** On the server, without a browser: the same numbers give the same picture. */
function svgOf({ title, labels, series }: { readonly title: string; readonly labels: readonly string[]; readonly series: readonly { readonly name: string; readonly values: readonly number[] }[] }): string {
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
  try {
    chart.setOption({ animation: false, textStyle: { fontFamily: "Helvetica" }, title: { text: title }, legend: { bottom: 0 }, xAxis: { type: "category", data: [...labels] }, yAxis: { type: "value" }, series: series.map(({ name, values }) => ({ type: "bar", name, data: [...values] })) });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}
