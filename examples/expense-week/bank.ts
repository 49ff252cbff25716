// A bank in a file, and the tools over it. It outlives every process of the example.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { defineTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";

export interface Booking {
  readonly expense: string;
  readonly cents: number;
  readonly kind: "paid" | "taken back";
}

export interface Bank {
  readonly tools: readonly Tool[];
  readonly bookings: readonly Booking[];
}

const receipt = z.object({ expense: z.string(), cents: z.number().int() });

/** @param diesAfterPaying the process is killed when the money has left and nobody was told */
export function openBank(file: string, diesAfterPaying: boolean): Bank {
  const read = (): Booking[] => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Booking[]) : []);
  const book = (booking: Booking): void => writeFileSync(file, JSON.stringify([...read(), booking]));
  const pay = defineTool({
    name: "pay",
    description: "Pay an expense back to its employee",
    effect: "write",
    input: receipt,
    output: receipt,
    businessKey: ({ expense }) => expense,
    handler({ expense, cents }) {
      book({ expense, cents, kind: "paid" });
      if (diesAfterPaying) process.kill(process.pid, "SIGKILL");
      return { expense, cents };
    },
    // Asked when a process was lost: is the payment in the books?
    reconcile({ expense, cents }) {
      return read().some((booking) => booking.expense === expense) ? { kind: "happened", output: { expense, cents } } : { kind: "did_not_happen" };
    },
    compensate({ expense, cents }) {
      book({ expense, cents, kind: "taken back" });
    },
  });
  return {
    tools: [pay],
    get bookings() {
      return read();
    },
  };
}
