/** A program and what must be true of the world when its run has come to its end, whatever happened on the way. */
export interface SimulatedProgram {
  readonly name: string;
  readonly text: string;
  readonly status: "completed" | "failed";
  /** When it completes. */
  readonly value?: unknown;
  /** Writes as `tool:n`; each must have taken place exactly once. */
  readonly writes: readonly string[];
  /** Those that must be undone, exactly once, or listed for a person. */
  readonly undone: readonly string[];
}

/** Two branches of two calls of the same tool each: the order of completions decides which call is which. */
const branches = `
const branch = async (n: number) => {
  const first = await tools.t.read({ n });
  return await tools.t.keyed({ n: first.n + 10 });
};
const [a, b] = await Promise.all([branch(1), branch(2)]);
`;

export const simulatedPrograms: readonly SimulatedProgram[] = [
  {
    name: "sequential",
    text: `
const seen: number[] = [];
for (const n of [1, 2, 3]) {
  const read = await tools.t.read({ n });
  const plain = await tools.t.plain({ n: read.n });
  const keyed = await tools.t.keyed({ n: plain.n });
  const asked = await tools.t.asked({ n: keyed.n });
  seen.push(asked.value);
}
return seen;`,
    status: "completed",
    value: [10, 20, 30],
    writes: [1, 2, 3].flatMap((n) => [`plain:${n}`, `keyed:${n}`, `asked:${n}`]),
    undone: [],
  },
  {
    name: "parallel",
    text: `${branches}
const rest = await Promise.all([3, 4, 5].map((n) => tools.t.plain({ n })));
return [a.value, b.value, ...rest.map((one) => one.value)];`,
    status: "completed",
    value: [110, 120, 30, 40, 50],
    writes: ["keyed:11", "keyed:12", "plain:3", "plain:4", "plain:5"],
    undone: [],
  },
  {
    name: "compensated",
    text: `${branches}
await tools.t.plain({ n: a.n + b.n });
await tools.t.asked({ n: 4 });
await tools.t.final({ n: 5 });
await tools.t.broken({ n: 6 });
return "not reached";`,
    status: "failed",
    writes: ["keyed:11", "keyed:12", "plain:23", "asked:4", "final:5"],
    undone: ["keyed:11", "keyed:12", "plain:23", "asked:4"],
  },
];
