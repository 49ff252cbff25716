/** A program and what must be true of the world when its run has come to its end, whatever happened on the way. */
export interface SimulatedProgram {
  readonly name: string;
  readonly text: string;
  /** The same in Python, for guests that are real processes. */
  readonly python: string;
  readonly status: "completed" | "failed";
  /** When it completes. */
  readonly value?: unknown;
  /** Writes as `tool:n`; each must have taken place exactly once. */
  readonly writes: readonly string[];
  /** Those that must be undone, exactly once, or listed for a person. */
  readonly undone: readonly string[];
  /** The run keeps what it did at its end, whatever that is; then two processes roll it back at once. */
  readonly rollsBack?: true;
  /** It asks a person. In a simulation the processes that answer, and that prune the record meanwhile, meet faults as well. */
  readonly asks?: true;
}

/** Two branches of two calls of the same tool each: the order of completions decides which call is which. */
const branches = `
const branch = async (n) => {
  const first = await tools.t.read({ n });
  return await tools.t.keyed({ n: first.n + 10 });
};
const [a, b] = await Promise.all([branch(1), branch(2)]);
`;

const pythonBranches = `
from tools import t, aio
async def branch(n):
    first = await aio.t.read(n=n)
    return await aio.t.keyed(n=first["n"] + 10)
a, b = await aio.gather(branch(1), branch(2))
`;

export const simulatedPrograms: readonly SimulatedProgram[] = [
  {
    name: "sequential",
    text: `
const seen = [];
for (const n of [1, 2, 3]) {
  const read = await tools.t.read({ n });
  const plain = await tools.t.plain({ n: read.n });
  const keyed = await tools.t.keyed({ n: plain.n });
  const asked = await tools.t.asked({ n: keyed.n });
  seen.push(asked.value);
}
return seen;`,
    python: `
from tools import t
seen = []
for n in [1, 2, 3]:
    read = t.read(n=n)
    plain = t.plain(n=read["n"])
    keyed = t.keyed(n=plain["n"])
    asked = t.asked(n=keyed["n"])
    seen.append(asked["value"])
seen`,
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
    python: `${pythonBranches}
rest = await aio.gather(*[aio.t.plain(n=n) for n in [3, 4, 5]])
[a["value"], b["value"], *[one["value"] for one in rest]]`,
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
    python: `${pythonBranches}
t.plain(n=a["n"] + b["n"])
t.asked(n=4)
t.final(n=5)
t.broken(n=6)`,
    status: "failed",
    writes: ["keyed:11", "keyed:12", "plain:23", "asked:4", "final:5"],
    undone: ["keyed:11", "keyed:12", "plain:23", "asked:4"],
  },
];

/** A run that is rolled back, by two processes at once. */
export const rolledBackProgram: SimulatedProgram = {
  name: "rolled back",
  text: `${branches}
await tools.t.plain({ n: a.n + b.n });
await tools.t.asked({ n: 4 });
await tools.t.final({ n: 5 });
return [a.value, b.value];`,
  python: `${pythonBranches}
t.plain(n=a["n"] + b["n"])
t.asked(n=4)
t.final(n=5)
[a["value"], b["value"]]`,
  status: "completed",
  value: [110, 120],
  writes: ["keyed:11", "keyed:12", "plain:23", "asked:4", "final:5"],
  undone: ["keyed:11", "keyed:12", "plain:23", "asked:4", "final:5"],
  rollsBack: true,
};

/** A person is asked in the middle. Where a program can be executed again it is suspended meanwhile. */
export const waitingProgram: SimulatedProgram = {
  name: "waiting",
  text: `
await tools.t.plain({ n: 1 });
const approved = await tools.t.approved({ n: 2 });
await tools.t.keyed({ n: 3 });
return approved.value;`,
  python: `
from tools import t
t.plain(n=1)
approved = t.approved(n=2)
t.keyed(n=3)
approved["value"]`,
  status: "completed",
  value: 20,
  writes: ["plain:1", "approved:2", "keyed:3"],
  undone: [],
  asks: true,
};
