import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { createSlots } from "./slots.ts";

const never = new AbortController().signal;

describe("createSlots", () => {
  test("lets in as many as there are slots, the rest in their order", async () => {
    const slots = createSlots(1);
    const order: number[] = [];
    const enter = async (id: number) => {
      const leave = await slots.take(never);
      order.push(id);
      await Promise.resolve();
      leave?.();
    };
    await Promise.all([enter(1), enter(2), enter(3)]);
    expect(order).toEqual([1, 2, 3]);
  });

  test("keeps the bound", async () => {
    const slots = createSlots(3);
    let [inside, most] = [0, 0];
    const enter = async () => {
      const leave = await slots.take(never);
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      leave?.();
    };
    await Promise.all(Array.from({ length: 20 }, enter));
    expect(most).toBe(3);
  });

  test("gives nothing to one who stopped waiting, and does not lose the slot", async () => {
    const slots = createSlots(1);
    const leave = await slots.take(never);
    const gone = new AbortController();
    const waiting = slots.take(gone.signal);
    const next = slots.take(never);
    gone.abort();
    expect(await waiting).toBeUndefined();
    leave?.();
    expect(await next).toBeTypeOf("function");
    expect(getEventListeners(never, "abort")).toHaveLength(0);
  });

  test("frees a slot once, however often it is given back", async () => {
    const slots = createSlots(1);
    const leave = await slots.take(never);
    leave?.();
    leave?.();
    await slots.take(never);
    const third = slots.take(AbortSignal.timeout(5));
    expect(await third).toBeUndefined();
  });

  test("does not start waiting on an aborted signal", async () => {
    expect(await createSlots(1).take(AbortSignal.abort())).toBeUndefined();
  });
});
