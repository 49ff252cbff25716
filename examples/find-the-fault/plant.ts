import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export const services = ["gateway", "checkout", "payment", "stock"] as const;
export type Service = (typeof services)[number];

/** What really happened. The agent is told none of it. */
export interface Fault {
  /** Orders that failed, as the log of checkout has them. */
  readonly failedOrders: number;
  readonly bytes: number;
}

const day = "2026-11-24";
/** Minutes of the day. The pool is made smaller, runs out, is noticed, and made larger again. */
const changed = 14 * 60 + 5;
const first = 14 * 60 + 7;
const last = 14 * 60 + 52;

/** The same numbers every time. */
function generator(): () => number {
  let state = 20_261_124;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Writes a day of a shop: logs by service and hour of about `megabytes` together, metrics by minute, the configuration and its changes. */
export function plantFault(folder: string, megabytes: number): Fault {
  const random = generator();
  const perMinute = Math.max(1, Math.round((megabytes * 1_048_576) / (services.length * 1_440 * 118)));
  let failedOrders = 0;
  let bytes = 0;
  for (const service of services) {
    mkdirSync(join(folder, "logs", service), { recursive: true });
    for (let hour = 0; hour < 24; hour++) {
      const file = join(folder, "logs", service, `${day}T${twoDigits(hour)}.log`);
      const minutes: string[] = [];
      for (let minute = hour * 60; minute < hour * 60 + 60; minute++) {
        const lines = minuteOf(service, { minute, perMinute, random });
        failedOrders += service === "checkout" ? lines.filter((line) => line.includes("order failed")).length : 0;
        const text = `${lines.join("\n")}\n`;
        bytes += text.length;
        minutes.push(text);
      }
      appendFileSync(file, minutes.join(""));
    }
  }
  plantMetrics(join(folder, "metrics.db"), random, perMinute === 1 ? 10 : 1);
  plantConfiguration(folder);
  return { failedOrders, bytes };
}

function minuteOf(service: Service, { minute, perMinute, random }: { readonly minute: number; readonly perMinute: number; readonly random: () => number }): readonly string[] {
  return Array.from({ length: perMinute }, (_unused, index) => {
    const at = `${clockOf(minute)}:${twoDigits(Math.floor((index * 60) / perMinute))}.${String(Math.floor(random() * 1_000)).padStart(3, "0")}Z`;
    const trace = Math.floor(random() * 2 ** 32).toString(16).padStart(8, "0");
    // In the first and the last minute of the fault at least one line says so, however few there are.
    const chance = random();
    const text = lineOf(service, minute, index === 0 && (minute === first || minute === last) ? 0 : chance);
    return `${day}T${at} ${text} trace=${trace} route=/v2/orders client=198.51.100.${index % 250}`;
  });
}

/** Payment fails first, checkout a minute after it, the gateway with it; stock complains all day of something else. */
function lineOf(service: Service, minute: number, chance: number): string {
  const isBroken = minute >= first + (service === "payment" ? 0 : 1) && minute <= last;
  if (service === "stock") return chance < 0.03 ? "ERROR supplier feed malformed, kept the one of yesterday" : "INFO reserved 1 item in 4 ms";
  if (service === "payment") return isBroken && chance < 0.6 ? "ERROR no connection from the pool after 3000 ms" : "INFO captured in 212 ms";
  if (service === "checkout") return isBroken && chance < 0.5 ? "ERROR order failed: payment answered 503" : "INFO order placed in 377 ms";
  if (isBroken && chance < 0.3) return "WARN upstream checkout answered 502";
  return chance < 0.002 ? "WARN client closed the connection" : "INFO 200 in 391 ms";
}

/** @param everyMinutes how far samples are apart */
function plantMetrics(file: string, random: () => number, everyMinutes: number): void {
  const database = new DatabaseSync(file);
  database.exec("CREATE TABLE samples (minute TEXT NOT NULL, service TEXT NOT NULL, name TEXT NOT NULL, value REAL NOT NULL); BEGIN");
  const insert = database.prepare("INSERT INTO samples VALUES (?, ?, ?, ?)");
  for (let minute = 0; minute < 1_440; minute += everyMinutes) {
    const isShort = minute >= changed && minute <= last;
    for (const service of services) {
      insert.run(`${day}T${clockOf(minute)}`, service, "cpu_percent", Math.round(20 + random() * 25));
      insert.run(`${day}T${clockOf(minute)}`, service, "pool_waiting", service === "payment" && isShort ? Math.round((minute - changed) * 1.5 + random() * 4 + 6) : Math.round(random() * 2));
    }
  }
  database.exec("COMMIT");
  database.close();
}

function plantConfiguration(folder: string): void {
  mkdirSync(join(folder, "config"));
  const changes = [
    { at: `${day}T09:12`, service: "gateway", key: "timeout_ms", from: 5_000, to: 6_000, by: "femi" },
    { at: `${day}T13:50`, service: "stock", key: "log_level", from: "debug", to: "info", by: "aiko" },
    { at: `${day}T14:05`, service: "payment", key: "pool_size", from: 50, to: 5, by: "tomas" },
    { at: `${day}T14:31`, service: "gateway", key: "retries", from: 1, to: 3, by: "femi" },
    { at: `${day}T14:53`, service: "payment", key: "pool_size", from: 5, to: 50, by: "bea" },
  ];
  writeFileSync(join(folder, "config", "changes.jsonl"), changes.map((change) => `${JSON.stringify(change)}\n`).join(""));
}

function clockOf(minute: number): string {
  return `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
