import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { linkedAbort } from "./linked-abort.ts";

describe("linkedAbort", () => {
  test("aborts with the reason of the first parent that does", () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const linked = linkedAbort(one.signal, two.signal);
    two.abort("second");
    one.abort("first");
    expect(linked.signal.reason).toBe("second");
  });

  test("is aborted from the start when a parent is", () => {
    expect(linkedAbort(AbortSignal.abort("gone")).signal.reason).toBe("gone");
  });

  test("does not abort its parents", () => {
    const parent = new AbortController();
    const linked = linkedAbort(parent.signal);
    linked.abort("mine");
    expect([linked.signal.aborted, parent.signal.aborted]).toEqual([true, false]);
  });

  test("leaves no listener behind once unlinked", () => {
    const parent = new AbortController();
    const linked = linkedAbort(parent.signal);
    expect(getEventListeners(parent.signal, "abort")).toHaveLength(1);
    linked.unlink();
    expect(getEventListeners(parent.signal, "abort")).toHaveLength(0);
  });
});
