import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkEqual, programScript } from "../shared/job.ts";
import type { Job, OpenJob } from "../shared/job.ts";
import { noTrouble, plantFiles } from "../shared/trouble.ts";
import { startIncidentService } from "./incident-service.ts";
import { configTools, logTools } from "./log-tools.ts";
import { plantFault } from "./plant.ts";

const program = readFileSync(join(import.meta.dirname, "programs", "find.ts"), "utf8");
const megabytes = { tiny: 0, small: 2, full: 200 } as const;

/** A day of logs, metrics and changes; somewhere in it is why orders failed. It ends in one ticket. */
export const job: Job = {
  name: "find-the-fault",
  task: "Orders failed on 2026-11-24. Find out which service failed first, since which minute and until when, and which change of the configuration it comes from, from logs, metrics and the changes. Count the orders that failed. Then report exactly one incident with your evidence. Change nothing else.",
  async open({ folder, scale, openGate, trouble = noTrouble }): Promise<OpenJob> {
    const { failedOrders } = plantFault(folder, megabytes[scale] * trouble.times);
    plantFiles(folder, trouble);
    const service = await startIncidentService(trouble.services);
    const gate = await openGate({
      sql: { metrics: { file: "metrics.db", readOnly: true } },
      tools: { logs: logTools(join(folder, "logs")), config: configTools(join(folder, "config")), incidents: service.tools },
      // What is found is reported; what is to be changed is a person's.
      rules: [{ allow: ["metrics.*", "logs.*", "config.changes", "incidents.report"] }],
    });
    return {
      gate,
      program,
      script: programScript("I look where errors rise suddenly, which service was first, and what was changed before it.", program, "The incident is reported, with its cause and what it did."),
      check: () => [
        checkEqual("one incident, and no second one", service.incidents.length, 1),
        checkEqual("it names the service that failed first, and the minutes", service.incidents.map(({ service: at, since, until }) => [at, since, until]), [["payment", "2026-11-24T14:07", "2026-11-24T14:52"]]),
        checkEqual("it names the change that it comes from", service.incidents.map(({ cause: { key, from, to } }) => [key, from, to]), [["pool_size", 50, 5]]),
        checkEqual("it counts every order that failed", service.incidents.map(({ failed_orders }) => failed_orders), [failedOrders]),
      ],
      state: () => ({ incidents: service.incidents.map((one) => ({ ...one })), changes: readFileSync(join(folder, "config", "changes.jsonl"), "utf8").trim().split("\n").length }),
      close: () => service.close(),
    };
  },
};
