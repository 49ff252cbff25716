import type { Clock, JsonSchema, Source, SourceTool, Tool, ToolContext } from "@callgate/contract";
import type { Ledger } from "./ledger.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface SimulatedWorld {
  readonly ledger: Ledger;
  /** The shared clock: latencies do not stop because a process does. */
  readonly clock: Clock;
  readonly random: () => number;
}

/** Anything: a simulation opens many gates, and to compile their schemas would be most of its work. */
const [input, output]: readonly [JsonSchema, JsonSchema] = [true, true];

interface Change {
  readonly n: number;
}

/**
 * The tools of one process, over the one world:
 *
 * - `read` changes nothing, `broken` fails
 * - `plain` is a write that knows nothing of keys: nobody can tell afterwards whether it happened but a person
 * - `keyed` is idempotent: its service counts a key once
 * - `asked` can be asked afterwards whether it happened (`reconcile`)
 * - `approved` is `plain`, and a person is asked before it
 *
 * The writes can be undone, save `final`, which is `plain` without a way back, and `approved`.
 */
export function simulatedSource(world: SimulatedWorld, process: SimulatedProcess): Source {
  const tools = [
    tool("read", { effect: "read", handler: async ({ n }) => await answer(world, process, n) }),
    tool("broken", { effect: "read", handler: () => Promise.reject(new Error("broken on purpose")) }),
    writeTool("plain", { dedupes: false, canUndo: true }),
    writeTool("final", { dedupes: false, canUndo: false }),
    writeTool("approved", { dedupes: false, canUndo: false }),
    writeTool("keyed", { dedupes: true, canUndo: true, idempotent: true }),
    writeTool("asked", { dedupes: false, canUndo: true, canAsk: true }),
  ];

  function writeTool(name: string, { dedupes, canUndo, canAsk, idempotent }: WriteOptions): Tool {
    return tool(name, {
      effect: "write",
      ...(idempotent === undefined ? {} : { idempotent }),
      async handler({ n }, context) {
        await process.step(`before ${name}`, { neverStill: !dedupes });
        world.ledger.apply({ tool: name, n, key: context.idempotencyKey, dedupes });
        await process.step(`after ${name}`);
        return await answer(world, process, n);
      },
      ...(canAsk === true ? { reconcile: ({ n }: Change) => (world.ledger.find(name, n) === undefined ? ({ kind: "did_not_happen" } as const) : ({ kind: "happened", output: { n, value: n * 10 } } as const)) } : {}),
      ...(canUndo
        ? {
            async compensate({ n }: Change) {
              await process.step(`before undoing ${name}`, { neverStill: !dedupes });
              world.ledger.undo(name, n, { dedupes });
              await process.step(`after undoing ${name}`);
            },
          }
        : {}),
    });
  }

  const listed = tools.map((one): SourceTool => ({ tool: one, claimed: false }));
  return {
    namespace: "t",
    kind: "functions",
    state: { kind: "ready" },
    list: () => Promise.resolve({ tools: listed, problems: [] }),
    call: async (name, args, context) => await tools.find((one) => one.name === name)?.handler(args, context),
    onChange: () => undefined,
    close: () => Promise.resolve(),
  };
}

interface WriteOptions {
  readonly dedupes: boolean;
  readonly canUndo: boolean;
  readonly canAsk?: boolean;
  readonly idempotent?: boolean;
}

type ToolParts = Omit<Partial<Tool>, "handler" | "reconcile" | "compensate"> & {
  handler(args: Change, context: ToolContext): Promise<unknown>;
  reconcile?(args: Change): unknown;
  compensate?(args: Change): Promise<void>;
};

function tool(name: string, parts: ToolParts): Tool {
  const spec = { name, description: `Simulated ${name}`, input, output, effect: "read", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 600_000, examples: [], errors: [] };
  return { ...spec, ...parts } as unknown as Tool;
}

/** Answers after a while of the world's time, out of order with the others. */
async function answer({ clock, random }: SimulatedWorld, process: SimulatedProcess, n: number): Promise<unknown> {
  await new Promise<void>((resolve) => clock.schedule(1 + Math.floor(random() * 50), resolve));
  // Dead or standing still: it does not hear the answer now.
  await process.awake();
  return { n, value: n * 10 };
}
