import { CallgateError } from "@callgate/contract";
import type { Blobs, Clock, Durability, JournalEntry, RunFinish, RunLease, RunStart } from "@callgate/contract";
import { createHeartbeat } from "./owners.ts";
import type { Owners } from "./owners.ts";
import { prepareEntries } from "./prepare-entries.ts";
import { createRunOrder } from "./run-order.ts";
import type { RunWriter } from "./run-writer.ts";
import type { WriteQueue } from "./write-queue.ts";

/** The writing half of a journal. */
export interface Recorder {
  begin(run: RunStart, leaseMs: number): Promise<RunLease>;
  append(lease: RunLease, entries: readonly JournalEntry[], durability: Durability): Promise<void>;
  finish(lease: RunLease, finish: RunFinish): Promise<void>;
  /** Waits for what was asked for, then says that this process drives nothing any more. */
  close(): Promise<void>;
}

export interface RecorderSeams {
  readonly queue: WriteQueue;
  readonly owners: Owners;
  readonly writer: RunWriter;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly blobBytes: number;
}

export function createRecorder({ queue, owners, writer, blobs, clock, blobBytes }: RecorderSeams): Recorder {
  const order = createRunOrder();
  const running = new Set<string>();
  const heartbeat = createHeartbeat(clock, () => queue.write({ durability: "lazy", what: "Cannot say that this process lives" }, owners.beat));
  const prepare = { blobs, blobBytes, scope: (lease: RunLease) => queue.write({ durability: "lazy", what: `Cannot append to run ${lease.runId}` }, () => writer.scope(lease)) };

  return {
    async begin(run, leaseMs) {
      assertNames(run);
      const lease = await queue.write({ durability: "later", what: `Cannot begin run ${run.runId}` }, () => {
        owners.register();
        return writer.begin(run, { ownerId: owners.ownerId, leaseUntilMs: clock.now() + leaseMs });
      });
      running.add(run.runId);
      heartbeat.start();
      return lease;
    },
    append(lease, entries, durability) {
      const { runId } = lease;
      return order.after(runId, prepareEntries(prepare, lease, entries), (prepared) =>
        queue.write({ durability, what: `Cannot append to run ${runId}` }, () => writer.append(lease, prepared)),
      );
    },
    async finish(lease, finish) {
      const { runId } = lease;
      await order.after(runId, undefined, () => queue.write({ durability: "lazy", what: `Cannot finish run ${runId}` }, () => writer.finish(lease, finish)));
      if (running.delete(runId) && running.size === 0) heartbeat.stop();
    },
    async close() {
      heartbeat.stop();
      await order.idle();
      await queue.write({ durability: "lazy", what: "Cannot close the journal" }, owners.leave).catch(() => undefined); // Then its pid tells.
    },
  };
}

/** Names are compared as the store keeps them: half a surrogate pair would come back as another name. */
function assertNames({ runId, principal }: RunStart): void {
  for (const name of [runId, principal.tenant, principal.user, principal.agent ?? "", principal.task ?? ""]) {
    if (!name.isWellFormed() || name.includes("\0")) {
      throw new CallgateError("USAGE", `Cannot begin run ${JSON.stringify(runId)}: ${JSON.stringify(name)} is no name (it holds a NUL or half a character)`);
    }
  }
}
