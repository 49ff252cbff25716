import { defineEnvironment } from "callgate/eval";
import { list } from "./tools/invoices.ts";
import { reminderTool } from "./tools/mail.ts";
import type { Reminder } from "./tools/mail.ts";

/** The desk with an outbox of its own, for each attempt of suite.yaml. */
export const environment = defineEnvironment(async ({ openGate }) => {
  const sent: Reminder[] = [];
  const gate = await openGate({
    tools: { invoices: [{ ...list, name: "list" }], mail: [{ ...reminderTool(sent), name: "remind" }] },
    rules: [{ id: "reads", allow: "invoices.*" }, { id: "reminders", allow: "mail.remind", when: { args: { "/total": { lte: 5_000 } } } }],
  });
  return { gate, state: () => ({ sent: sent.map((one) => ({ ...one })), totals: Object.fromEntries(sent.map(({ customer, total }) => [customer, total])) }) };
});
