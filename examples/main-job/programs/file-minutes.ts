import { crm, documents, tickets } from "tools";

const section = (minutes: string, title: string) => minutes.split(`## ${title}\n`)[1]?.split("\n## ")[0]?.trim().split("\n") ?? [];
const filed: { minutes: string; customer: string; decisions: number; tickets: number }[] = [];

const names = (await documents.list_directory({ path: "minutes" })).content.split("\n").flatMap((line) => line.startsWith("[FILE] ") ? [line.slice(7)] : []);
for (const name of names) {
  const minutes = (await documents.read_text_file({ path: `minutes/${name}` })).content;
  const customerName = /^# ([^:]+):/.exec(minutes)?.[1] ?? "";
  const [customer] = await crm.find_customers({ name: customerName });
  if (customer === undefined) throw new Error(`${name}: ${customerName} is not a customer`);

  // Decisions name opportunities by their title, dates in words, and an amount by how it is worked out.
  let decisions = 0;
  const decided = section(minutes, "Decisions");
  const closes = /Close date is (\d+) December (\d+)/.exec(decided.join("\n"));
  const rate = /at (\d+\.\d+) EUR for each parcel of the average day/.exec(decided.join("\n"));
  for (const one of await crm.list_opportunities({ customer_id: customer.id })) {
    if (decided.some((line) => line.includes(`"${one.title}" is not continued`))) {
      await crm.update_opportunity({ id: one.id, stage: "lost", note: `minutes/${name}` });
      decisions++;
    }
    if (decided.some((line) => line.includes(`"${one.title}" moves to stage "proposal"`))) {
      const attachment = /attachments\/\S+\.csv/.exec(minutes)?.[0];
      const perDay = new Map<string, number>();
      if (attachment !== undefined && rate !== null) {
        const csv = (await documents.read_text_file({ path: attachment })).content;
        for (const line of csv.trim().split("\n").slice(1)) {
          const [date = "", , parcels = "0"] = line.split(",");
          perDay.set(date, (perDay.get(date) ?? 0) + Number(parcels));
        }
      }
      const averageDay = [...perDay.values()].reduce((sum, parcels) => sum + parcels, 0) / Math.max(1, perDay.size);
      await crm.update_opportunity({ id: one.id, stage: "proposal", note: `minutes/${name}`, ...(perDay.size === 0 ? {} : { amount_eur: Math.round(averageDay * 365 * Number(rate?.[1])) }), ...(closes === null ? {} : { close_date: `${closes[2]}-12-${closes[1]?.padStart(2, "0")}` }) });
      decisions++;
    }
  }

  const items = section(minutes, "Action items").flatMap((line) => {
    const [, assignee, priority, title] = /^- \[ \] A\d+ \((.+?), (low|normal|high)\): (.+)$/.exec(line) ?? [];
    return assignee === undefined || title === undefined ? [] : [{ assignee, priority: priority as "low" | "normal" | "high", title, customer_id: customer.id }];
  });
  await Promise.all(items.map((item) => tickets.open_ticket(item)));

  await documents.create_directory({ path: `customers/${customer.id}` });
  await documents.move_file({ source: `minutes/${name}`, destination: `customers/${customer.id}/${name}` });
  filed.push({ minutes: name, customer: customer.id, decisions, tickets: items.length });
}

await documents.write_file({ path: "index.md", content: `# Minutes\n\n${filed.map((one) => `- [${one.minutes}](customers/${one.customer}/${one.minutes}): ${one.decisions} decisions, ${one.tickets} tickets`).join("\n")}\n` });
return filed;
