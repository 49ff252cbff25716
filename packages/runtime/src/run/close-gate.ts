import type { Broker } from "../broker/broker.ts";
import type { ProgramCheck } from "../check/program-check.ts";
import type { EventHub } from "../telemetry/event-hub.ts";
import type { CatalogKeeper } from "./catalog-keeper.ts";
import type { GateOptions } from "./gate-options.ts";
import type { OwedEnds } from "./owed-ends.ts";

export interface ClosingParts {
  readonly options: GateOptions;
  readonly hub: EventHub;
  /** Absent where there is none yet. */
  readonly broker?: Broker;
  readonly check?: ProgramCheck;
  readonly keeper?: CatalogKeeper;
  readonly owedEnds?: OwedEnds;
}

/**
 * Closes in the order in which the parts use each other: what makes calls, what carries them, where they are written
 * down. A part that fails to close does not keep the others open.
 */
export async function closeGate({ options, hub, broker, check, keeper, owedEnds }: ClosingParts): Promise<void> {
  const kept = keeper?.close();
  await Promise.allSettled([broker?.close()]);
  await Promise.allSettled(options.drivers.map((driver) => driver.close()));
  await Promise.allSettled([check?.close(), ...options.sources.map(({ source }) => source.close())]);
  await owedEnds?.close();
  await Promise.allSettled([kept, options.journal.close(), options.callLimits?.rateStore?.close(), options.answers?.close()]);
  hub.close();
}
