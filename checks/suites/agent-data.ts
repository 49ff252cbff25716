import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CallgateError } from "callgate";

const folder = process.env["CALLGATE_AGENT_DATA"] ?? resolve(import.meta.dirname, "../../../shared/data/agent");

/** Whether the tasks are beside this repository: they are others' work and not part of it. */
export const hasAgentData = existsSync(folder);

/** A file of a set. Errors: USAGE where the sets are not there. */
export function agentData(set: "tau-retail" | "workbench" | "bfcl-base", file: string): string {
  if (!hasAgentData) throw new CallgateError("USAGE", `The tasks are not there (${pathToFileURL(folder).href}); set CALLGATE_AGENT_DATA to the folder with tau-retail, workbench and bfcl-base`);
  return readFileSync(resolve(folder, set, file), "utf8");
}

/** Lines of JSON. */
export function agentTasks<Task>(set: Parameters<typeof agentData>[0]): readonly Task[] {
  return agentData(set, "tasks.jsonl").trim().split("\n").map((line) => JSON.parse(line) as Task);
}
