import { config, incidents, logs, metrics } from "tools";

// Where errors rise in one hour, and not all day.
const names = ["gateway", "checkout", "payment", "stock"] as const;
const byHour = await Promise.all(names.map(async (service) => ({ service, hours: await logs.count({ service, level: "ERROR", per: "hour" }) })));
const sudden = byHour.flatMap(({ service, hours }) => {
  const most = hours.reduce((max, { lines }) => Math.max(max, lines), 0);
  const hour = hours.find(({ lines }) => lines === most)?.at;
  const others = hours.filter(({ at }) => at !== hour).reduce((sum, { lines }) => sum + lines, 0);
  return hour !== undefined && most > 3 * (others / 23 + 1) ? [{ service, hour }] : [];
});

// The service that failed first is where the others' failures come from.
const began = await Promise.all(sudden.map(async ({ service, hour }) => {
  const minutes = await logs.count({ service, level: "ERROR", from: `${hour}:00`, to: `${hour}:59`, per: "minute" });
  return { service, since: minutes[0]?.at ?? "", until: minutes.at(-1)?.at ?? "" };
}));
began.sort((a, b) => a.since.localeCompare(b.since));
const origin = began[0];
if (origin === undefined) return "no service fails in one hour alone";

const [line = ""] = await logs.find({ service: origin.service, level: "ERROR", from: origin.since, limit: 1 });
const before = (await config.changes({})).filter((one) => one.service === origin.service && one.at <= origin.since).at(-1);
if (before === undefined) return `${origin.service} fails since ${origin.since}, and nothing of it was changed before`;
const { page: [waiting] } = await metrics.query({ sql: "select max(value) as most from samples where service = :service and name = 'pool_waiting' and minute between :since and :until", params: { service: origin.service, since: origin.since, until: origin.until } });
const { page: [usual] } = await metrics.query({ sql: "select max(value) as most from samples where service = :service and name = 'pool_waiting' and minute < :at", params: { service: origin.service, at: before.at } });

const failed = await logs.count({ service: "checkout", contains: "order failed", per: "hour" });
const { id } = await incidents.report({
  title: `${origin.service} fails: ${before.key} was changed from ${before.from} to ${before.to}`,
  service: origin.service,
  since: origin.since,
  until: origin.until,
  cause: { key: before.key, from: before.from, to: before.to, at: before.at, by: before.by },
  failed_orders: failed.reduce((sum, { lines }) => sum + lines, 0),
  evidence: [line, `waiting for the pool: at most ${waiting?.most}, before the change ${usual?.most}`, ...began.slice(1).map(({ service, since }) => `${service} fails since ${since}`)],
});
return { id, service: origin.service, since: origin.since, cause: `${before.key} ${before.from} -> ${before.to}` };
