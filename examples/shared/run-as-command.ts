import { parseArgs } from "node:util";
import { CallgateError, openModel } from "callgate";
import type { AgentEvent, AgentModel } from "callgate";
import type { Job } from "./job.ts";
import { meterText } from "./meter.ts";
import { runJob } from "./run-job.ts";

const usage = "[--full] [--model PROVIDER/NAME [--base-url URL]]   providers: openai, anthropic, google, openai-compatible; keys from their environment variables";
const providers = ["openai", "anthropic", "google", "openai-compatible"] as const;

/** Runs a job as a command: tells what happens, prints the meter and the end state, and exits with 1 where that is not reached. */
export async function runAsCommand(job: Job): Promise<void> {
  try {
    const { model, isFull } = await readArguments();
    console.log(`${job.name}: ${model === undefined ? "the model is a script; --model PROVIDER/NAME asks a real one" : `${model.provider}/${model.modelId}`}\n\n  ${job.task}\n`);
    const report = await runJob(job, { scale: isFull ? "full" : "small", onEvent: tell, ...(model === undefined ? {} : { model }) });
    if ("missing" in report) return console.log(`skipped: ${report.missing}`);
    console.log(`\n${report.result.answer}\n\n${meterText(report.meter)}\n`);
    if (report.standsOn !== undefined) console.log(`  ${report.standsOn}\n`);
    for (const { what, ok, found } of report.checks) console.log(`  ${ok ? "✓" : "✗"} ${what}${ok ? "" : `: ${found}`}`);
    if (report.isReached) return console.log("\nThe end state is reached.");
    console.error(`\nThe end state is not reached (${report.result.stop.kind}).`);
    process.exitCode = 1;
  } catch (fault) {
    if (!CallgateError.is(fault)) throw fault;
    console.error(`${fault.code}: ${fault.message}`);
    process.exitCode = 1;
  }
}

async function readArguments(): Promise<{ readonly model: AgentModel | undefined; readonly isFull: boolean }> {
  const { full, model, baseUrl } = parsed();
  if (model === undefined) return { model: undefined, isFull: full };
  const [, name = "", id = ""] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
  const provider = providers.find((one) => one === name);
  if (provider === undefined) throw new CallgateError("USAGE", `--model is PROVIDER/NAME, such as anthropic/claude-sonnet-4-5, not ${model}. ${usage}`);
  return { model: await openModel({ provider, model: id, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) }, { folder: process.cwd(), env: process.env }), isFull: full };
}

function parsed(): { readonly full: boolean; readonly model: string | undefined; readonly baseUrl: string | undefined } {
  try {
    const { values } = parseArgs({ options: { full: { type: "boolean", default: false }, model: { type: "string" }, "base-url": { type: "string" } } });
    return { full: values.full, model: values.model, baseUrl: values["base-url"] };
  } catch (cause) {
    throw new CallgateError("USAGE", `${cause instanceof Error ? cause.message : String(cause)}. ${usage}`, { cause });
  }
}

function tell(event: AgentEvent): void {
  if (event.kind === "code-generation") console.log(event.code.trim().replace(/^/gm, "  │ "));
  if (event.kind === "code-execution") console.log(`  └ ${event.status}, effect ${event.effectStatus}${event.status === "completed" ? "" : `\n${event.text}`}`);
}
