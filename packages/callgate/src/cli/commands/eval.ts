import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { AgentMode } from "@callgate/agent";
import { CallgateError } from "@callgate/contract";
import type * as EvalDoor from "../../eval.ts";
import type { CaseProof, EvalReport, EvalSuite, Regression, Subject } from "@callgate/eval";
import { definedPrice } from "../../agent/defined-price.ts";
import { openModel } from "../../agent/open-model.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";

export interface EvalCommandOptions {
  readonly subject: "script" | "model" | "empty";
  readonly mode?: AgentMode;
  readonly repeat?: number;
  readonly concurrency?: number;
  readonly only?: readonly string[];
  readonly tag?: readonly string[];
  readonly prove?: boolean;
  readonly baseline?: string;
  readonly saveBaseline?: string;
  readonly atLeast?: number;
  readonly junit?: string;
  readonly html?: string;
}

type Door = typeof EvalDoor;

/** `callgate eval SUITE`: 0 when it is as good as it was asked to be, 1 when not. */
export async function evalCommand(file: string, options: EvalCommandOptions, context: CommandContext): Promise<ExitCode> {
  const door = await loadDoor();
  await context.ensureTrust(dirname(resolve(file)));
  const { loadSuite } = await import("../../eval/load-suite.ts");
  const suite = await loadSuite(file);
  const common = { suite, signal: context.signal, ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }), ...(options.only === undefined ? {} : { only: options.only }), ...(options.tag === undefined ? {} : { tags: options.tag }) };
  if (options.prove === true) return await tellProofs(await door.proveSuite(common), { suite, options, context, door });
  // A baseline that cannot be read is said before the suite is run.
  const baseline = options.baseline === undefined ? undefined : await door.readBaseline(options.baseline);
  const { terminal } = context;
  const subject = await subjectOf(options, context, door);
  const report = await door.runSuite({ ...common, subject, repeat: options.repeat ?? 1, onCase: ({ id, status }) => terminal.interactive && terminal.err(`${terminal.colors.dim(`${status} ${id}`)}\n`) });
  const regressions = baseline === undefined ? [] : door.regressionsOf(report, baseline);
  if (options.junit !== undefined) await writeFile(options.junit, door.junitXml(report));
  if (options.html !== undefined) await writeFile(options.html, door.htmlPage(report, regressions));
  if (options.saveBaseline !== undefined) await door.saveBaseline(options.saveBaseline, report);
  if (context.options.json === true) terminal.out(`${JSON.stringify({ ...report, regressions })}\n`);
  else terminal.out((await import("../render-eval.ts")).renderReport(report, regressions, terminal));
  if (context.signal.aborted) return exitCodes.interrupted;
  return isGoodEnough(report, { regressions, hasBaseline: baseline !== undefined, atLeast: options.atLeast }) ? exitCodes.ok : exitCodes.failed;
}

/**
 * What was refused or not judged is never good enough, nor is a run that judged nothing. Otherwise: with a baseline nothing
 * may be worse, with a rate that is reached, and without either everything passes.
 */
export function isGoodEnough({ all, cases }: Pick<EvalReport, "all" | "cases">, { regressions, hasBaseline, atLeast }: { readonly regressions: readonly Regression[]; readonly hasBaseline: boolean; readonly atLeast: number | undefined }): boolean {
  if (all.tries === 0 || cases.some(({ status }) => status === "refused" || status === "error")) return false;
  if (regressions.length > 0) return false;
  if (atLeast !== undefined) return all.passRate.rate >= atLeast;
  return hasBaseline || (all.failed === 0 && all.flaky === 0);
}

async function tellProofs(proofs: readonly CaseProof[], { suite, options, context, door }: { readonly suite: EvalSuite; readonly options: EvalCommandOptions; readonly context: CommandContext; readonly door: Door }): Promise<ExitCode> {
  const { terminal } = context;
  if (options.junit !== undefined) await writeFile(options.junit, door.junitProofXml(suite.name, proofs));
  if (context.options.json === true) terminal.out(`${JSON.stringify({ suite: suite.name, proofs })}\n`);
  else terminal.out((await import("../render-eval.ts")).renderProofs(proofs, terminal));
  if (context.signal.aborted) return exitCodes.interrupted;
  return proofs.every(({ holds, missing }) => holds || missing !== undefined) && proofs.some(({ holds }) => holds) ? exitCodes.ok : exitCodes.failed;
}

async function subjectOf({ subject, mode }: EvalCommandOptions, context: CommandContext, door: Door): Promise<Subject> {
  if (subject === "empty") return door.emptySubject;
  if (subject === "script") return door.scriptedSubject();
  const { config, folder } = await context.configuration();
  if (config.agent?.provider === "scripted") throw new CallgateError("USAGE", "The configured agent is a script, which says the same in every case; --subject script takes the script of each case");
  const model = await openModel(config.agent, { folder, env: process.env });
  const { instructions, limits, price, mode: configured } = config.agent ?? {};
  const chosen = mode ?? configured;
  return door.agentSubject({
    model,
    ...(chosen === undefined ? {} : { mode: chosen, name: `${model.provider}/${model.modelId} (${chosen})` }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(price === undefined ? {} : { price: definedPrice(price) }),
    ...(limits === undefined ? {} : { limits: Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined)) }),
  });
}

/** Not everybody evaluates, so it is installed by those who do. */
async function loadDoor(): Promise<Door> {
  try {
    return await import("../../eval.ts");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new CallgateError("USAGE", "callgate eval needs the package @callgate/eval: npm i -D @callgate/eval", { cause });
  }
}
