import { readFile, writeFile } from "node:fs/promises";
import { CallgateError } from "@callgate/contract";
import type { GatePlans, Plan } from "@callgate/contract";

/** Reads a plan's file. Errors: USAGE where there is none, PLAN_INVALID where it holds none. */
export async function readPlanFile(file: string, plans: Pick<GatePlans, "parse">): Promise<Plan> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new CallgateError("USAGE", `Cannot read the plan ${file}: ${cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason"}`, { cause });
  }
  return plans.parse(jsonOf(text, file));
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CallgateError("PLAN_INVALID", `${file} holds no JSON, so it is no plan. callgate run --rehearse --plan FILE makes one`, { cause });
  }
}

/** Writes a plan so that two of them can be compared line by line. Errors: USAGE. */
export async function writePlanFile(file: string, plan: Plan): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(plan, undefined, 2)}\n`);
  } catch (cause) {
    throw new CallgateError("USAGE", `Cannot write the plan to ${file}: ${cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason"}`, { cause });
  }
}
