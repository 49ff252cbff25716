import type { Plan, RunResult } from "@callgate/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { planWorld } from "./fixtures/plan-world.ts";
import type { PlanWorld } from "./fixtures/plan-world.ts";
import type { TestTool } from "./fixtures/test-gate.ts";

/** What the real tool answers, or throws. */
let real: () => unknown = () => ({});
const ship: TestTool = {
  name: "ship",
  effect: "write",
  input: { type: "object" },
  output: {
    type: "object",
    required: ["left", "parcels", "hold"],
    properties: { left: { type: "number" }, parcels: { type: "array", items: { type: "object", required: ["code"], properties: { code: { type: "string" } } } }, hold: { type: ["string", "null"] }, note: { type: "string" } },
  },
  errors: [{ code: "OUT_OF_STOCK", description: "Nothing is left" }],
  handler: () => real(),
};
const answer = { left: 5, parcels: [{ code: "p-1" }], hold: "until monday", note: "fragile" };

describe("a branch on what a write answers is conditional in the plan, asked about when it comes, and no drift", () => {
  let shop: PlanWorld;
  beforeAll(async () => void (shop = await planWorld({ tools: [ship] })));
  beforeEach(() => shop.reset());
  afterAll(() => shop.gate.close());

  async function rehearsed(program: string): Promise<Plan> {
    const { plan, ...result } = await shop.gate.run(program, { rehearse: true });
    if (plan === undefined) throw new Error(JSON.stringify(result));
    return plan;
  }
  const apply = async (plan: Plan): Promise<RunResult> => await shop.gate.apply(await shop.gate.plans.approve(plan, { by: "ann" }));

  test.each<[string, { readonly branch: string; readonly answers: () => unknown; readonly onlyWith: string; readonly title: string }]>([
    ["a low number", { branch: "if (made.left < 10) await tools.t.ticket({ title: 'reorder' });", answers: () => answer, onlyWith: "low numbers", title: "reorder" }],
    ["a negative number", { branch: "if (made.left <= 0) await tools.t.ticket({ title: 'sold out' });", answers: () => ({ ...answer, left: -1 }), onlyWith: "low numbers", title: "sold out" }],
    ["a number beyond all others", { branch: "if (made.left > 2e9) await tools.t.ticket({ title: 'a lot' });", answers: () => ({ ...answer, left: 3e9 }), onlyWith: "high numbers, longer lists or something that may be left out", title: "a lot" }],
    ["an empty list", { branch: "if (made.parcels.length === 0) await tools.t.ticket({ title: 'nothing sent' });", answers: () => ({ ...answer, parcels: [] }), onlyWith: "empty lists", title: "nothing sent" }],
    ["the length of a list", { branch: "if (made.parcels.length > 1) await tools.t.ticket({ title: 'in parts' });", answers: () => ({ ...answer, parcels: [{ code: "a" }, { code: "b" }] }), onlyWith: "high numbers, longer lists or something that may be left out", title: "in parts" }],
    ["null", { branch: "if (made.hold === null) await tools.t.ticket({ title: 'at once' });", answers: () => ({ ...answer, hold: null }), onlyWith: "something left out or null", title: "at once" }],
    ["a field that may be left out", { branch: "if (!('note' in made)) await tools.t.ticket({ title: 'no note' });", answers: () => ({ left: 5, parcels: answer.parcels, hold: "x" }), onlyWith: "something left out or null", title: "no note" }],
  ])("%s", async (_name, { branch, answers, onlyWith, title }) => {
    real = answers;
    const plan = await rehearsed(`const made = await tools.t.ship({}); ${branch} await tools.t.note({ id: "o-1", text: "seen" });`);
    expect(plan.items.map(({ tool, isConditional = false, onlyWith: when }) => [tool, isConditional, when])).toEqual([["t.ship", false, undefined], ["t.note", false, undefined], ["t.ticket", true, expect.arrayContaining([onlyWith])]]);
    expect(shop.wrote).toEqual([]);
    const result = await apply(plan);
    expect(result.status).toBe("completed");
    expect(shop.asked).toMatchObject([{ tool: "t.ticket", argsSummary: { title }, reason: expect.stringContaining("conditional") as unknown }]);
    expect(result.planProgress?.items.map(({ became }) => became)).toEqual(["done", "done", "done"]);
  });

  test("a write that fails: what the program does then, by the error that its tool declares", async () => {
    real = () => { throw Object.assign(new Error("none"), { code: "x" }); };
    const plan = await rehearsed('try { await tools.t.ship({}); await tools.t.note({ id: "o-1", text: "sent" }); } catch { await tools.t.ticket({ title: "sold out" }); }');
    expect(plan.items.map(({ tool, isConditional = false, onlyWith, fails }) => [tool, isConditional, onlyWith, fails])).toEqual([
      ["t.ship", false, undefined, undefined],
      // That it comes only where nothing fails is no reason to ask about it.
      ["t.note", false, undefined, undefined],
      ["t.ticket", true, ["t.ship failing", "t.note failing"], undefined],
    ]);
    const result = await apply(plan);
    expect(result.status).toBe("completed");
    expect(shop.asked).toMatchObject([{ tool: "t.ticket" }]);
    expect(result.planProgress?.items.map(({ became }) => became)).toEqual(["unknown", "not_reached", "done"]);
  });

  test("a write for each item of a list that a write answers comes as often as the list has items, each asked about", async () => {
    real = () => ({ ...answer, parcels: ["a", "b", "c", "d"].map((code) => ({ code })) });
    const plan = await rehearsed('const { parcels } = await tools.t.ship({}); for (const { code } of parcels) await tools.t.ticket({ title: "parcel " + code });');
    expect(plan.items.map(({ tool, isConditional = false, mayRepeat = false }) => [tool, isConditional, mayRepeat])).toEqual([["t.ship", false, false], ["t.ticket", true, false], ["t.ticket", true, true]]);
    const result = await apply(plan);
    expect(result.status).toBe("completed");
    expect(shop.asked.map(({ argsSummary }) => argsSummary)).toEqual(["a", "b", "c", "d"].map((code) => ({ title: `parcel ${code}` })));
  });

  test("reads are made for the two first rehearsals only, and nobody is asked about the program again", async () => {
    await rehearsed("const [first] = await tools.t.list({}); const { left } = await tools.t.ship({}); if (left < 3) await tools.t.note({ id: first.id, text: 'x' });");
    expect(shop.reads).toBe(2);
    expect(shop.asked).toEqual([]);
  });

  test("where the program ends with such an answer, that is told, and what would have come after is not called conditional", async () => {
    const plan = await rehearsed("const made = await tools.t.ship({}); await tools.t.note({ id: 'o-1', text: made.parcels[0].code.slice(0, 0) + 'x' });");
    expect(plan.items.map(({ isConditional = false }) => isConditional)).toEqual([false, false]);
    expect(plan.notes.join(" ")).toMatch(/With empty lists in what its writes answer the program ended as failed.*The program ends where one of these fails: t\.ship, t\.note/);
  });
});
