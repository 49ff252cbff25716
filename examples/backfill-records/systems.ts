import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, httpTool, ToolError } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";
import { startJsonService } from "../shared/json-service.ts";
import type { ServiceFault } from "../shared/trouble.ts";
import { countries } from "./records.ts";
import type { Truth } from "./records.ts";

const account = z.object({ customer_id: z.number(), email: z.string().nullable() });

export interface BillingService {
  readonly tools: readonly Tool[];
  readonly accounts: ReadonlyMap<number, string | null>;
  /** How often an account was changed. */
  readonly writes: number;
  close(): Promise<void>;
}

/**
 * The billing system: a service that gives a hundred accounts a page.
 *
 * @param faults how its requests go wrong
 */
export async function startBilling(records: readonly Truth[], faults: Readonly<Record<string, ServiceFault>> = {}): Promise<BillingService> {
  const accounts = new Map(records.map(({ id, billingEmail }) => [id, billingEmail]));
  let writes = 0;
  const service = await startJsonService(({ method, path, query, body }) => {
    const id = Number(/^\/accounts\/(\d+)$/.exec(path)?.[1]);
    if (method === "PUT" && accounts.has(id)) {
      const { email } = z.object({ email: z.string() }).parse(body);
      accounts.set(id, email);
      writes++;
      return { status: 200, body: { customer_id: id, email } };
    }
    if (method !== "GET" || path !== "/accounts") return { status: 404, body: { message: "not here" } };
    const offset = Number(query.get("offset") ?? 0);
    return { status: 200, body: { total: accounts.size, items: [...accounts].slice(offset, offset + 100).map(([customer_id, email]) => ({ customer_id, email })) } };
  }, faults);
  return {
    tools: [
      httpTool({ name: "list_accounts", description: "Accounts with the address that invoices go to, a hundred a page.", method: "GET", url: `${service.url}/accounts`, input: z.object({ offset: z.int().optional() }), output: z.object({ total: z.number(), items: z.array(account) }), pages: { kind: "offset", argument: "offset", items: "/items" } }),
      httpTool({ name: "set_email", description: "Sets the address that invoices of a customer go to.", method: "PUT", url: `${service.url}/accounts/{customer_id}`, input: z.object({ customer_id: z.int(), email: z.string() }), output: account }),
    ],
    accounts,
    get writes() {
      return writes;
    },
    close: service.close,
  };
}

/** The register of tax numbers: a file for each country, as an authority hands them out. */
export function createRegister(folder: string, records: readonly Truth[]): readonly Tool[] {
  mkdirSync(folder);
  for (const country of countries) {
    const lines = records.filter((one) => one.country === country).map(({ id, registerVatId, isRevoked }) => `${id},${registerVatId},${isRevoked ? "revoked" : "valid"}`);
    writeFileSync(join(folder, `${country}.csv`), `customer_id,vat_id,status\n${lines.join("\n")}\n`);
  }
  return [
    defineTool({
      name: "read_country",
      description: "All tax numbers of a country, with whether each is valid or revoked.",
      effect: "read",
      input: z.strictObject({ country: z.enum(countries) }),
      output: z.array(z.object({ customer_id: z.number(), vat_id: z.string(), status: z.enum(["valid", "revoked"]) })),
      handler: ({ country }) => readFileSync(join(folder, `${country}.csv`), "utf8").trim().split("\n").slice(1).map((line) => {
        const [id = "", vat_id = "", status = ""] = line.split(",");
        return { customer_id: Number(id), vat_id, status: status === "revoked" ? ("revoked" as const) : ("valid" as const) };
      }),
    }),
  ];
}

/** Where findings go that a person has to decide. */
export function reportTools(folder: string): readonly Tool[] {
  return [
    defineTool({
      name: "save",
      description: "Saves a report as a file, for people. A name that is taken is refused.",
      effect: "write",
      input: z.strictObject({ name: z.string().regex(/^[a-z0-9-]+\.md$/), text: z.string() }),
      output: z.object({ name: z.string() }),
      handler({ name, text }) {
        try {
          writeFileSync(join(folder, name), text, { flag: "wx" });
        } catch {
          throw new ToolError({ code: "NAME_TAKEN", message: `There is a report ${name}`, notApplied: true });
        }
        return { name };
      },
    }),
  ];
}
