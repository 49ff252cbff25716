import { expect, test } from "vitest";
import type { TaintMark, TaintScope } from "@callgate/contract";
import { START_MS, twoOwners } from "./two-owners.ts";
import type { DurableSeams } from "./two-owners.ts";

const ofRun: TaintScope = { kind: "run", user: "", id: "r1" };
const ofTask: TaintScope = { kind: "task", user: "alice", id: "tidy up" };

/** Not long ago: what is older than the keys is forgotten. */
const startMs = START_MS - 10_000;

function mark(label: string, changes: Partial<TaintMark> = {}): TaintMark {
  return { label, tool: "mail.read", runId: "r1", seq: 3, atMs: startMs, ...changes };
}

/** Labels that reached runs and what goes on beyond them. */
export function taintSuite(seams: DurableSeams): void {
  test("labels are seen by every user of the store, by scope and tenant, and of one the first mark stays", async () => {
    const { first, second } = await twoOwners(seams);
    await first.addTaint("acme", [ofRun, ofTask], [mark("private"), mark("untrusted", { seq: 4, atMs: startMs + 1 })]);
    await second.addTaint("acme", [ofTask], [mark("private", { tool: "crm.find", runId: "r2", atMs: startMs + 1_000 }), mark("external", { runId: "r2", atMs: startMs + 1_000 })]);
    expect(await second.readTaint("acme", [ofRun])).toEqual([mark("private"), mark("untrusted", { seq: 4, atMs: startMs + 1 })]);
    expect((await first.readTaint("acme", [ofTask])).map(({ label, runId }) => [label, runId])).toEqual([["private", "r1"], ["untrusted", "r1"], ["external", "r2"]]);
    // Of several scopes a label comes once.
    expect((await first.readTaint("acme", [ofRun, ofTask])).map(({ label }) => label).sort()).toEqual(["external", "private", "untrusted"]);
    for (const scope of [{ ...ofTask, user: "bob" }, { ...ofTask, kind: "conversation" } as const, { ...ofTask, id: "tidy" }]) expect(await first.readTaint("acme", [scope])).toEqual([]);
    expect(await first.readTaint("rival", [ofRun, ofTask])).toEqual([]);
    expect(await first.readTaint("acme", [])).toEqual([]);
  });

  test("labels are forgotten with the keys, not with runs", async () => {
    const { first } = await twoOwners(seams);
    await first.addTaint("acme", [ofTask], [mark("private"), mark("untrusted", { atMs: startMs + 5_000 })]);
    await first.prune({ olderThanMs: Number.MAX_SAFE_INTEGER });
    expect(await first.readTaint("acme", [ofTask])).toHaveLength(2);
    await first.prune({ keysOlderThanMs: startMs + 2_000 });
    expect((await first.readTaint("acme", [ofTask])).map(({ label }) => label)).toEqual(["untrusted"]);
  });
}
