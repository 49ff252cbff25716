import { crm, documents, tickets } from "tools";

const minutes = (await documents.read_text_file({ path: "minutes/2026-11-24-northwind.md" })).content;
const section = (title: string) => minutes.split(`## ${title}\n`)[1]?.split("\n## ")[0]?.trim().split("\n") ?? [];

// Usage: the average day of October over all sites. 121 rows stay in here.
const csv = (await documents.read_text_file({ path: "attachments/northwind-usage-2026-10.csv" })).content;
const perDay = new Map<string, number>();
for (const line of csv.trim().split("\n").slice(1)) {
  const [date = "", , parcels = "0"] = line.split(",");
  perDay.set(date, (perDay.get(date) ?? 0) + Number(parcels));
}
const averageDay = [...perDay.values()].reduce((sum, parcels) => sum + parcels, 0) / perDay.size;

// Decisions name opportunities by title; find the right ones.
const [customer] = await crm.find_customers({ name: "Northwind" });
if (customer === undefined) throw new Error("Northwind is not a customer");
const opportunities = await crm.list_opportunities({ customer_id: customer.id });
const rollout = opportunities.find((one) => section("Decisions").some((line) => line.includes(`"${one.title}" moves to stage "proposal"`)));
const dropped = opportunities.find((one) => section("Decisions").some((line) => line.includes(`"${one.title}" is not continued`)));
if (rollout === undefined || dropped === undefined) throw new Error("A decision names an unknown opportunity");

const [updated] = await Promise.all([
  crm.update_opportunity({ id: rollout.id, stage: "proposal", amount_eur: Math.round(averageDay * 365 * 0.38), close_date: "2026-12-18", note: "Account review 24 November 2026" }),
  crm.update_opportunity({ id: dropped.id, stage: "lost", note: "Replaced by the rollout" }),
]);

// Open action items become tickets.
const items = section("Action items").flatMap((line) => {
  const [, owner, priority, title] = /^- \[ \] A\d+ \((.+?), (low|normal|high)\): (.+)$/.exec(line) ?? [];
  return owner === undefined || title === undefined ? [] : [{ assignee: owner, priority: priority as "low" | "normal" | "high", title, customer_id: customer.id }];
});
const opened = await Promise.all(items.map((item) => tickets.open_ticket(item)));

return {
  customer: customer.name,
  average_day_parcels: Math.round(averageDay),
  rollout: `${updated.id} is now ${updated.stage}, ${updated.amount_eur} EUR, closes ${updated.close_date}`,
  dropped: dropped.id,
  tickets: opened.map((ticket) => `${ticket.id} ${ticket.assignee}: ${ticket.title}`),
};
