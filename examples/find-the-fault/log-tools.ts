import { appendFileSync, createReadStream, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { defineTool } from "callgate";
import type { Tool } from "callgate";
import { z } from "zod";
import { services } from "./plant.ts";

const minute = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/, "is a minute, such as 2026-11-24T14:07");
const where = z.strictObject({
  service: z.enum(services),
  level: z.enum(["INFO", "WARN", "ERROR"]).optional(),
  contains: z.string().min(1).optional(),
  from: minute.optional(),
  to: minute.optional().describe("This minute included"),
});
type Where = z.infer<typeof where>;

/** Reads logs where they lie, line by line: nothing is loaded whole, whatever their size. */
export function logTools(folder: string): readonly Tool[] {
  return [
    defineTool({
      name: "count",
      description: "Counts log lines of a service, by hour or by minute. Hours and minutes without one are left out.",
      effect: "read",
      input: where.extend({ per: z.enum(["hour", "minute"]) }),
      output: z.array(z.object({ at: z.string(), lines: z.number() })),
      async handler({ per, ...filter }, { signal }) {
        const counts = new Map<string, number>();
        for await (const line of linesOf(folder, filter, signal)) {
          const at = line.slice(0, per === "hour" ? 13 : 16);
          counts.set(at, (counts.get(at) ?? 0) + 1);
        }
        return [...counts].map(([at, lines]) => ({ at, lines }));
      },
    }),
    defineTool({
      name: "find",
      description: "The first log lines of a service that match, oldest first.",
      effect: "read",
      input: where.extend({ limit: z.int().min(1).max(1_000).default(20) }),
      output: z.array(z.string()),
      async handler({ limit, ...filter }, { signal }) {
        const found: string[] = [];
        for await (const line of linesOf(folder, filter, signal)) if (found.push(line) >= limit) break;
        return found;
      },
    }),
  ];
}

async function* linesOf(folder: string, { service, level, contains, from = "", to = "9" }: Where, signal: AbortSignal): AsyncGenerator<string> {
  for (const name of readdirSync(join(folder, service)).sort()) {
    const hour = name.slice(0, 13);
    if (hour < from.slice(0, 13) || hour > to.slice(0, 13)) continue;
    const input = createReadStream(join(folder, service, name), { encoding: "utf8", signal });
    for await (const line of createInterface({ input })) {
      const at = line.slice(0, 16);
      if (at < from || at.localeCompare(to) > 0) continue;
      if (level !== undefined && !line.startsWith(` ${level} `, 24)) continue;
      if (contains === undefined || line.includes(contains)) yield line;
    }
  }
}

const change = z.object({ at: z.string(), service: z.enum(services), key: z.string(), from: z.union([z.string(), z.number()]), to: z.union([z.string(), z.number()]), by: z.string() });

export function configTools(folder: string): readonly Tool[] {
  return [
    defineTool({
      name: "changes",
      description: "Changes of the configuration of all services, oldest first.",
      effect: "read",
      input: z.strictObject({}),
      output: z.array(change),
      handler: () => readFileSync(join(folder, "changes.jsonl"), "utf8").trim().split("\n").map((line) => change.parse(JSON.parse(line))),
    }),
    defineTool({
      name: "set",
      description: "Changes the configuration of a service, which takes effect at once.",
      effect: "write",
      input: change,
      output: z.object({ set: z.boolean() }),
      handler(one) {
        appendFileSync(join(folder, "changes.jsonl"), `${JSON.stringify(one)}\n`);
        return { set: true };
      },
    }),
  ];
}
