import { billing, crm, register, reports } from "tools";

// Three systems, held against each other in here: no record passes through the model.
const invoiceEmails = new Map<number, string | null>();
for await (const { items } of billing.list_accounts.pages({})) for (const { customer_id, email } of items) invoiceEmails.set(customer_id, email);

const registered = new Map<number, { vat_id: string; status: "valid" | "revoked" }>();
for (const country of ["AT", "DE", "FR", "NL", "PL"] as const) for (const entry of await register.read_country({ country })) registered.set(entry.customer_id, entry);

const toFill: { id: number; set: { email?: string; vat_id?: string } }[] = [];
const invoices: { customer_id: number; email: string }[] = [];
const findings: string[] = [];
let seen = 0;
for await (const page of crm.find_customers.pages({ orderBy: [{ column: "id" }], limit: 1000 })) {
  for (const { id, email, vat_id } of page) {
    seen++;
    const set: { email?: string; vat_id?: string } = {};
    const invoiceEmail = invoiceEmails.get(id) ?? null;
    if (email === null && invoiceEmail !== null) set.email = invoiceEmail;
    else if (email !== null && invoiceEmail === null) invoices.push({ customer_id: id, email });
    else if (email !== invoiceEmail) findings.push(`- ${id}: email is ${email} in the CRM and ${invoiceEmail} in billing`);

    const entry = registered.get(id);
    if (entry === undefined) findings.push(`- ${id}: not in the register`);
    else if (entry.status === "revoked") findings.push(`- ${id}: tax number ${entry.vat_id} is revoked`);
    else if (vat_id === null) set.vat_id = entry.vat_id;
    else if (vat_id !== entry.vat_id) findings.push(`- ${id}: tax number is ${vat_id} in the CRM and ${entry.vat_id} in the register`);
    if (Object.keys(set).length > 0) toFill.push({ id, set });
  }
}

// What is missing is filled in. What contradicts is a person's to decide.
for (const { id, set } of toFill) await crm.update_customers({ where: { id }, set });
for (const one of invoices) await billing.set_email(one);
await reports.save({ name: "findings.md", text: `# To be decided\n\n${findings.join("\n")}\n` });
return { seen, crm_filled: toFill.length, billing_filled: invoices.length, findings: findings.length };
