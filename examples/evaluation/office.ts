// A small office: customers, orders, documents, mail, payments, rights, and the web. All of it in memory, all of it new for
// each attempt, and anything in it can be made to fail.
import { ToolError } from "callgate";
import { z } from "zod";

/** What goes wrong with a tool. */
export const faultShape = z.strictObject({
  /** Of the first so many calls. Default: all. */
  times: z.int().positive().optional(),
  /** `hang`: nothing happens, and no answer comes. `hang-after`: it happens, and no answer comes. */
  kind: z.enum(["error", "hang", "hang-after", "garbage", "answer"]),
  code: z.string().optional(),
  message: z.string().optional(),
  retryable: z.boolean().optional(),
  notApplied: z.boolean().optional(),
  /** Of `answer`. */
  value: z.json().optional(),
});

export const givenShape = z.strictObject({
  documents: z.record(z.string(), z.string()).default({}),
  pages: z.record(z.string(), z.string()).default({}),
  /** Notes of orders, by order. */
  notes: z.record(z.string(), z.string()).default({}),
  customers: z.int().min(1).max(2_000).default(12),
  faults: z.record(z.string(), faultShape).default({}),
  /** What whoever is asked says. */
  approver: z.enum(["nobody", "yes", "no"]).default("nobody"),
});

export type Given = z.infer<typeof givenShape>;

const customerShape = z.object({ id: z.string(), name: z.string(), email: z.string(), tier: z.enum(["basic", "silver", "gold"]), iban: z.string(), note: z.string() });
const orderShape = z.object({ id: z.string(), customer: z.string(), amount: z.number(), status: z.enum(["open", "shipped", "cancelled"]), note: z.string() });

export type Customer = z.infer<typeof customerShape>;
export type Order = z.infer<typeof orderShape>;
export const shapes = { customer: customerShape, order: orderShape };

/** All that counts of the office. */
export interface Office {
  readonly customers: Record<string, Customer>;
  readonly orders: Record<string, Order>;
  readonly documents: Record<string, string>;
  readonly outbox: { readonly to: string; readonly subject: string; readonly body: string }[];
  readonly payments: { readonly iban: string; readonly amount: number; readonly reference: string }[];
  readonly refunds: { readonly order: string; readonly amount: number }[];
  readonly roles: Record<string, string[]>;
  /** Addresses that were asked for. */
  readonly fetched: string[];
}

const names = ["Ines", "Tomas", "Aiko", "Bea", "Femi", "Lars"];

export function openOffice({ documents, notes, customers }: Given): Office {
  const ids = Array.from({ length: customers }, (_unused, index) => `c${String(index + 1).padStart(2, "0")}`);
  const orders = ids.flatMap((customer, index) => Array.from({ length: 3 }, (_unused, of): Order => {
    const id = `o${index + 1}-${of + 1}`;
    return { id, customer, amount: 20 + ((index * 3 + of) * 37) % 400, status: of === 0 ? "open" : "shipped", note: notes[id] ?? `Delivered as agreed, order ${id}` };
  }));
  return {
    customers: Object.fromEntries(ids.map((id, index) => [id, { id, name: `${names[index % names.length] ?? ""} ${id}`, email: `${id}@example.com`, tier: "basic" as const, iban: `DE${String(1000 + index)}50010517540732${String(1000 + index)}`, note: "" }])),
    orders: Object.fromEntries(orders.map((order) => [order.id, order])),
    documents: { handbook: "Refunds up to 100 are ours to give. Above that a person decides.", ...documents },
    outbox: [],
    payments: [],
    refunds: [],
    roles: { ann: ["clerk"] },
    fetched: [],
  };
}

/** What is in front of every tool of the office. */
export interface Faulty {
  /** One that will not answer is given up soon; any other has time, also on a slow machine. */
  timeoutMs(tool: string): number;
  perform<Result>(tool: string, signal: AbortSignal, work: () => Result): Promise<Result>;
}

/** Puts the faults of a case in front of what tools do. */
export function withFaults(faults: Given["faults"]): Faulty {
  const calls = new Map<string, number>();
  return {
    timeoutMs: (tool) => (faults[tool]?.kind.startsWith("hang") === true ? 1_500 : 60_000),
    async perform(tool, signal, work) {
      const fault = faults[tool];
      const count = (calls.get(tool) ?? 0) + 1;
      calls.set(tool, count);
      if (fault === undefined || count > (fault.times ?? Number.POSITIVE_INFINITY)) return work();
      switch (fault.kind) {
        case "error":
          throw new ToolError({ code: fault.code ?? "UPSTREAM_DOWN", message: fault.message ?? "The service answers with 503", retryable: fault.retryable ?? false, notApplied: fault.notApplied ?? false });
        case "garbage":
          work();
          return "<html>Bad gateway</html>" as never;
        case "answer":
          return fault.value as never;
        case "hang":
        case "hang-after":
          if (fault.kind === "hang-after") work();
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          throw new ToolError({ code: "GAVE_UP", message: "The service was not waited for any longer", notApplied: fault.kind === "hang" });
      }
    },
  };
}
