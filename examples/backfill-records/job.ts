import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkEqual, programScript } from "../shared/job.ts";
import type { Check, Job, OpenJob } from "../shared/job.ts";
import { noTrouble, plantFiles } from "../shared/trouble.ts";
import { createCrm } from "./crm.ts";
import type { CrmRow } from "./crm.ts";
import { truths } from "./records.ts";
import type { Truth } from "./records.ts";
import { createRegister, reportTools, startBilling } from "./systems.ts";

const program = readFileSync(join(import.meta.dirname, "programs", "backfill.ts"), "utf8");
const customers = { tiny: 300, small: 2_000, full: 20_000 } as const;

/** Customers are verified across a database, a service and files; what is missing is filled in, what contradicts is reported. */
export const job: Job = {
  name: "backfill-records",
  task: "Verify all customers of the CRM against billing (invoice email) and the register (tax number). Fill in what is missing in one system and known in another; never use a revoked tax number. Where systems contradict each other, and where a number is revoked, change nothing and list the customer, one line each beginning with `- ID:`, in a report findings.md.",
  async open({ folder, scale, openGate, trouble = noTrouble }): Promise<OpenJob> {
    const records = truths(customers[scale] * trouble.times);
    const crm = await createCrm(folder, records);
    const billing = await startBilling(records, trouble.services);
    const register = createRegister(join(folder, "register"), records);
    const reports = join(folder, "reports");
    mkdirSync(reports);
    plantFiles(folder, trouble);
    const gate = await openGate({
      sql: { crm: crm.source },
      tools: { billing: billing.tools, register, reports: reportTools(reports) },
      limits: { calls: 5_000 },
      rules: [{ allow: ["crm.find_customers", "crm.update_customers", "billing.*", "register.*", "reports.save"] }],
    });
    return {
      gate,
      standsOn: crm.standsOn,
      program,
      script: programScript("I hold the three systems against each other and fill in what one of them knows.", program, "All customers are verified. What was missing is filled in; what contradicts is in findings.md."),
      check: async () => checks(records, { rows: await crm.rows(), accounts: billing.accounts, writes: billing.writes, report: join(reports, "findings.md") }),
      state: async () => ({
        crm: Object.fromEntries((await crm.rows()).map(({ id, email, vat_id }) => [String(id), { email, vat_id }])),
        billing: Object.fromEntries([...billing.accounts].map(([id, email]) => [String(id), email])),
        writes: billing.writes,
        reports: Object.fromEntries(readdirSync(reports).sort().map((name) => [name, readFileSync(join(reports, name), "utf8")])),
      }),
      async close() {
        await billing.close();
        await crm.close();
      },
    };
  },
};

interface Found {
  readonly rows: readonly CrmRow[];
  readonly accounts: ReadonlyMap<number, string | null>;
  readonly writes: number;
  readonly report: string;
}

/** What there has to be is worked out from what the records really are, not by the program's rules. */
function checks(records: readonly Truth[], { rows, accounts, writes, report }: Found): readonly Check[] {
  const wrong = rows.filter(({ id, email, vat_id }) => {
    const truth = records[id - 1];
    return truth === undefined || email !== truth.email || vat_id !== (truth.isRevoked ? truth.crmVatId : truth.vatId);
  });
  const wrongAccounts = records.filter(({ id, email, billingEmail }) => accounts.get(id) !== (billingEmail ?? email));
  const undecided = records.filter((one) => one.isRevoked || (one.billingEmail !== null && one.billingEmail !== one.email) || one.registerVatId !== one.vatId).map(({ id }) => id);
  const listed = existsSync(report) ? [...readFileSync(report, "utf8").matchAll(/^- (\d+):/gm)].map(([, id]) => Number(id)) : [];
  return [
    checkEqual("every customer of the CRM is as it really is, revoked numbers left out", wrong.map(({ id }) => id), []),
    checkEqual("every invoice address that was missing is there, and no other was changed", wrongAccounts.map(({ id }) => id), []),
    checkEqual("each missing address was written once", writes, records.filter(({ billingEmail }) => billingEmail === null).length),
    checkEqual("the report lists what is to be decided, and nothing else", listed.sort((a, b) => a - b), undecided),
  ];
}
