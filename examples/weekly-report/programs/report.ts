import { notices, reports, sales } from "tools";

const { page: rows } = await sales.query({ sql: "select week, region, sum(cents) as cents, count(*) as orders from orders where state = 'paid' group by week, region order by week, region" });
const lastWeek = Math.max(...rows.map(({ week }) => Number(week)));
const regions = [...new Set(rows.map(({ region }) => String(region)))];
const centsOf = (week: number, region: string) => rows.filter((row) => row.week === week && row.region === region).reduce((sum, row) => sum + Number(row.cents), 0);
const euro = (cents: number) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")} EUR`;

const table = regions.map((region) => ({ region, now: centsOf(lastWeek, region), before: centsOf(lastWeek - 1, region) }));
const total = table.reduce((sum, { now }) => sum + now, 0);
const falling = table.filter(({ now, before }) => now < before).map(({ region }) => region);

const weeks = [...new Set(rows.map(({ week }) => Number(week)))].slice(-6);
const chart = await reports.chart({ file: `week-${lastWeek}.svg`, title: "Revenue by week and region (EUR)", labels: weeks.map((week) => `W${week}`), series: regions.map((name) => ({ name, values: weeks.map((week) => Math.round(centsOf(week, name) / 100)) })) });
const pdf = await reports.pdf({
  file: `week-${lastWeek}.pdf`,
  title: `Sales of week ${lastWeek}`,
  paragraphs: [`Revenue of week ${lastWeek}: ${euro(total)}, returns left out.`, falling.length === 0 ? "Every region has grown." : `Below the week before: ${falling.join(", ")}.`],
  chart: chart.file,
  table: { head: ["Region", `Week ${lastWeek}`, `Week ${lastWeek - 1}`], rows: table.map(({ region, now, before }) => [region, euro(now), euro(before)]) },
});
await notices.send({ channel: "sales", text: `Week ${lastWeek}: ${euro(total)}. ${pdf.file}`, attachment: pdf.file });
return { week: lastWeek, total_cents: total, pdf: pdf.file };
