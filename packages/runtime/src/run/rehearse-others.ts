import { CallgateError, decodeValue, encodeValue } from "@callgate/contract";
import type { Journal, JournalEntry, RunRecord, RunResult, SandboxDriver } from "@callgate/contract";
import { createPlaceholders } from "../broker/placeholder.ts";
import type { RehearsalVariant } from "../broker/rehearsal.ts";
import { canVary } from "../broker/varied-value.ts";
import type { CatalogView } from "./catalog-view.ts";
import { readRecordedCalls } from "./recorded-calls.ts";
import { createRerun } from "./rerun.ts";
import { readRerunSource } from "./rerun-source.ts";
import type { RerunSource } from "./rerun-source.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunSeams } from "./run-scope.ts";
import type { Runner } from "./runner.ts";

export interface OthersOptions {
  readonly seams: RunSeams;
  readonly runner: Pick<Runner, "run">;
  readonly driver: SandboxDriver;
}

/** Tools that are made to fail, each in a rehearsal of its own. */
const maxFailing = 8;

const valueKinds = ["absent", "empty", "least", "most"] as const;

/** Where it is kept which rehearsals a plan is held against besides the first. */
const otherEvent = "callgate:rehearsed-as";

/**
 * Executes a rehearsed program again for each kind of answer that its writes could have given and did not, with the reads
 * that it made: nothing real is asked twice, and nobody. Which runs these are is kept with the rehearsal.
 */
export async function rehearseOthers({ seams, runner, driver }: OthersOptions, request: RunRequest, { runId, calls }: RunResult): Promise<void> {
  const { journal, clock, redactor } = seams;
  const { tenant, user } = request.principal;
  const run = await journal.readRun(tenant, runId);
  const source = run === undefined ? undefined : await sourceOf(journal, run);
  if (source === undefined) return;
  const variants = variantsFor(await journal.readEntries(tenant, runId, { clear: true }), request.view);
  // A list that is longer, or a number that is higher, must not make a program go on and on.
  const limits = { ...request.limits, calls: Math.min(request.limits.calls, 2 * calls.length + 20) };
  for (const variant of variants) {
    if (request.signal.aborted) return;
    const rerun = createRerun({ runId, newCalls: "simulate", answers: source.answers.filter(({ tool }) => tool === undefined || (tool.effect === "read" && tool.simulated === undefined)), startMs: source.startMs, isEager: !driver.replayable }, clock);
    const other = await runner.run({ ...request, startedMs: clock.monotonic(), limits, rerun, rehearsal: { variant, isReviewed: true } });
    if (other.status === "rejected" || other.status === "cancelled") continue;
    const told = { runId: other.runId, variant };
    await journal.signal(tenant, runId, { kind: "event", name: otherEvent, id: other.runId, payload: redactor.record(told, encodeValue(told), []), by: user, atMs: clock.now() });
  }
}

/** The rehearsals that one was held against besides the first, in their order. */
export async function othersOf(journal: Pick<Journal, "readSignals">, { runId, principal }: RunRecord): Promise<readonly { readonly runId: string; readonly variant: RehearsalVariant }[]> {
  const signals = await journal.readSignals(principal.tenant, runId, { clear: true });
  return signals.flatMap((signal) => (signal.kind === "event" && signal.name === otherEvent && signal.payload.clear !== undefined ? [decodeValue(signal.payload.clear) as { readonly runId: string; readonly variant: RehearsalVariant }] : []));
}

/** Undefined: its answers are not kept, so it is not gone through again. */
async function sourceOf(journal: Journal, run: RunRecord): Promise<RerunSource | undefined> {
  try {
    return await readRerunSource(journal, run);
  } catch (fault) {
    if (CallgateError.is(fault) && fault.code === "REPLAY_UNAVAILABLE") return undefined;
    throw fault;
  }
}

/** Only kinds that make a difference to what was answered. */
function variantsFor(entries: readonly JournalEntry[], { catalog }: CatalogView): readonly RehearsalVariant[] {
  const simulated = [...readRecordedCalls(entries, []).values()].filter(({ ended }) => ended?.simulated !== undefined);
  const placeholders = createPlaceholders({ seq: 0, isVaried: true });
  const kinds = valueKinds.filter((how) => simulated.some(({ issued, output }) => issued !== undefined && output?.clear !== undefined && canVary(decodeValue(output.clear), { how, schema: catalog.resolve(issued.tool)?.tool.output, placeholders })));
  const tools = new Set(simulated.flatMap(({ issued }) => (issued === undefined || issued.effect === "read" ? [] : [issued.tool])));
  return [...kinds.map((kind) => ({ kind })), ...[...tools].slice(0, maxFailing).map((tool) => ({ kind: "failing" as const, tool }))];
}
