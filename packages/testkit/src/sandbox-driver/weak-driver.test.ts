import { createContext, runInContext } from "node:vm";
import type { GuestEnd, SandboxDriver } from "@callgate/contract";
import { decodeValue, encodeValue } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { endCases } from "./end-cases.ts";
import { isolationCases } from "./isolation-cases.ts";
import { pumpCases } from "./pump-cases.ts";

/**
 * What people write first: one context for all runs, host functions as tools, the host's clock and randomness. The
 * suite must see all of it, or its green means nothing.
 */
function weakDriver(): SandboxDriver {
  const context = createContext({ console, setTimeout, ToolError: Error });
  return {
    name: "weak", languages: ["javascript"], replayable: true, sessions: false, artifacts: false, limits: ["cpuMs", "memoryMiB"],
    start(job, host) {
      const waiting = new Map<number, (value: unknown) => void>();
      let seq = 0;
      const call = (tool: string) => (args: unknown) => new Promise((resolve) => {
        const own = seq++;
        waiting.set(own, resolve);
        host.onCalls([{ kind: "tool", seq: own, tool, args: encodeValue(args) }]);
      });
      const tools = Object.fromEntries(job.modules.map(({ namespace, tools: names }) => [namespace, Object.fromEntries(names.map((name) => [name, call(`${namespace}.${name}`)]))]));
      Object.assign(context, { tools });
      const { promise: ended, resolve } = Promise.withResolvers<GuestEnd>();
      const finish = async (): Promise<GuestEnd> => {
        try {
          const main = runInContext(job.code, context, { timeout: 300 }) as (callgate: object) => Promise<unknown>;
          return { kind: "returned", value: encodeValue(await main({ tools })) };
        } catch (error) {
          return { kind: "threw", error: { name: "Error", message: String(error) } };
        }
      };
      resolve(finish());
      return {
        ended,
        cancel: () => resolve({ kind: "cancelled" }),
        deliver(completions) {
          for (const { seq: answered, result } of completions) waiting.get(answered)?.(result.kind === "value" ? decodeValue(result.value) : result.error);
        },
      };
    },
    close: () => Promise.resolve(),
  };
}

/** Only cases that cannot hang or pollute this process are tried. */
const mustFail = [
  ...isolationCases.filter(({ name }) => name.startsWith("a guest reaches nothing")),
  ...pumpCases.filter(({ name }) => /clock is startMs|random numbers|built-ins too|not issued/.test(name)),
  ...endCases.filter(({ name }) => /consoleBytes|argumentBytes|nothing is silently/.test(name)),
];

describe("testSandboxDriver", () => {
  test.each(mustFail.map(({ name, run }) => [name, run] as const))("fails a weak driver: %s", async (_name, run) => {
    const timeout = new Promise((_resolve, reject) => setTimeout(() => reject(new Error("never ended")), 1_500));
    await expect(Promise.race([run({ driver: weakDriver(), dialect: "javascript" }), timeout])).rejects.toThrow();
  });

  test("fails a weak driver: nothing of a run is visible in the next one", async () => {
    const driver = weakDriver();
    const { startProgram, valueOf } = await import("./guest-harness.ts");
    const names = "return Object.getOwnPropertyNames(globalThis).length";
    const before = await valueOf(driver, names);
    await startProgram(driver, "globalThis.leak = 1; return 1").ended;
    expect(await valueOf(driver, names)).not.toBe(before);
  });
});
