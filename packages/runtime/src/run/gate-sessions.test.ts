import { sampleRun } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createTestGate } from "./fixtures/test-gate.ts";

describe("sessions of a gate", () => {
  test("where no sandbox keeps state, that is said", async () => {
    const { gate } = await createTestGate([]);
    expect(() => gate.sessions.open({ language: "typescript" })).toThrow(/quickjs, which keeps no state/);
    expect(() => gate.sessions.open({ language: "cobol" })).toThrow(/no sandbox here runs cobol/);
    await expect(gate.run("1", { session: "nobody" })).rejects.toMatchObject({ code: "SESSION_ENDED" });
    await gate.close();
    expect(() => gate.sessions.open()).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });

  test("a block whose process was lost is not run again elsewhere: its state is gone, and that is on record", async () => {
    const { gate, journal } = await createTestGate([]);
    const run = sampleRun("run_lost", { session: { sessionId: "s1", generation: 2, block: 7 }, principal: { tenant: "local", user: "local", roles: [], claims: {} } });
    journal.letGo(await journal.begin(run, { leaseMs: 1 }));
    const result = await gate.runs.resume("run_lost");
    expect(result).toMatchObject({ status: "crashed", error: { code: "RUN_INTERRUPTED", message: expect.stringContaining("session s1") as string } });
    expect((await gate.runs.show("run_lost"))?.run.session).toEqual({ sessionId: "s1", generation: 2, block: 7 });
    await gate.close();
  });
});
