import { CallgateError } from "@callgate/contract";
import type { GateEvent, Source, SourceListing, SourceState, SourceTool } from "@callgate/contract";
import { virtualClock } from "@callgate/testkit";
import { describe, expect, test } from "vitest";
import { createSpecParser } from "../catalog/validation/parse-spec.ts";
import { createCatalogKeeper } from "./catalog-keeper.ts";

function listed(...names: readonly string[]): SourceListing {
  return {
    problems: [],
    tools: names.map((name): SourceTool => ({ claimed: false, tool: { name, description: name, input: true, effect: "read", tags: [], permissions: [], labels: [], version: "1", timeoutMs: 1_000, examples: [], errors: [], handler: () => null } })),
  };
}

function source(namespace: string, list: Source["list"], kind = "mcp") {
  let changed: () => void = () => undefined;
  let state: SourceState = { kind: "ready" };
  const made: Source = {
    namespace,
    kind,
    get state() {
      return state;
    },
    list,
    call: () => Promise.resolve(null),
    onChange: (listener) => {
      changed = listener;
    },
    close: () => Promise.resolve(),
  };
  return { source: made, change: (next: SourceState = { kind: "ready" }) => { state = next; changed(); } };
}

function setUp(sources: readonly { readonly source: Source }[], specParser = createSpecParser()) {
  const clock = virtualClock();
  const events: GateEvent[] = [];
  const keeper = createCatalogKeeper({ sources: sources.map((one) => ({ source: one.source })), clock, listTimeoutMs: 1_000, specParser, emit: (event) => void events.push(event) });
  return { clock, events, keeper };
}

describe("createCatalogKeeper", () => {
  // Each of 2,500 sources that answered put all 125,000 tools together anew: minutes before the first command did anything.
  test("many sources that answer one after the other do not each cost a whole large catalog", async () => {
    const parser = createSpecParser();
    let parsed = 0;
    const slow: typeof parser = { ...parser, parse: (tool) => {
      parsed += 1;
      const until = performance.now() + 6;
      while (performance.now() < until);
      return parser.parse(tool);
    } };
    const count = 40;
    const { events, keeper: making } = setUp(Array.from({ length: count }, (_, index) => source(`s${index}`, async () => {
      for (let turn = 0; turn < index; turn += 1) await Promise.resolve();
      return listed("a");
    })), slow);
    const keeper = await making;
    await keeper.ready();
    expect(keeper.current.tools).toHaveLength(count);
    expect(events.filter(({ kind }) => kind === "catalog-changed").length).toBeLessThan(count / 2);
    expect(parsed).toBeLessThan((count * count) / 4);
    await keeper.close();
  });

  test("one source that fails and one that hangs cost only themselves", async () => {
    const { clock, events, keeper: making } = setUp([
      source("good", () => Promise.resolve(listed("a"))),
      source("bad", () => Promise.reject(new CallgateError("SOURCE_FAILED", "no such file"))),
      source("hung", () => new Promise(() => undefined)),
      source("own", () => Promise.resolve(listed("b")), "functions"),
    ]);
    const keeper = await making;
    expect(keeper.missing).toContain("hung");
    let ready = false;
    const whenReady = keeper.ready().then(() => {
      ready = true;
    });
    await clock.advance(999);
    expect(keeper.current.tools.map(({ name }) => name)).toEqual(["good.a", "own.b"]);
    expect(ready).toBe(false);
    expect(keeper.missing).toEqual(["hung"]);
    await clock.advance(1);
    await whenReady;
    expect(keeper.missing).toEqual([]);
    expect(keeper.problems).toEqual(["bad: no such file", expect.stringContaining("hung: the source did not list its tools within 1000 ms")]);
    const states = Object.fromEntries(events.flatMap((event) => (event.kind === "source-changed" ? [[event.namespace, event.state.kind]] : [])));
    expect(states).toEqual({ own: "ready", good: "ready", bad: "down", hung: "down" });
    expect(clock.pendingTimers).toBe(0);
  });

  test("code-mode 15: a change is listed again once it is quiet, and a snapshot that is held stays as it was", async () => {
    let names = ["a"];
    let lists = 0;
    const changing = source("s", () => { lists += 1; return Promise.resolve(listed(...names)); });
    const { clock, events, keeper: making } = setUp([changing]);
    const keeper = await making;
    await keeper.ready();
    const pinned = keeper.current;
    names = ["a", "b"];
    for (let burst = 0; burst < 10; burst++) changing.change();
    await clock.advance(60);
    expect(lists).toBe(2);
    expect(keeper.current.tools.map(({ name }) => name)).toEqual(["s.a", "s.b"]);
    expect(pinned.tools.map(({ name }) => name)).toEqual(["s.a"]);
    expect(events.filter(({ kind }) => kind === "catalog-changed").length).toBe(2);
    changing.change({ kind: "down", reason: "killed" });
    expect(events.at(-1)).toMatchObject({ kind: "source-changed", state: { kind: "down", reason: "killed" } });
    await keeper.close();
    changing.change();
    await clock.advance(1_000);
    expect(lists).toBe(3 - 1);
    expect(clock.pendingTimers).toBe(0);
  });

  test("a source that was down serves its tools once it can be listed", async () => {
    let up = false;
    const late = source("late", () => (up ? Promise.resolve(listed("a")) : Promise.reject(new Error("connection refused"))));
    const { clock, keeper: making } = setUp([late]);
    const keeper = await making;
    await keeper.ready();
    expect(keeper.problems).toEqual(["late: connection refused"]);
    up = true;
    late.change();
    await clock.advance(60);
    expect(keeper.problems).toEqual([]);
    expect(keeper.current.tools.length).toBe(1);
  });

  test("two sources of one namespace, and a wrong tool of the user's own, are refused at once", async () => {
    await expect(setUp([source("x", () => Promise.resolve(listed())), source("x", () => Promise.resolve(listed()))]).keeper).rejects.toMatchObject({ code: "TOOL_DUPLICATE" });
    await expect(setUp([source("x", () => Promise.resolve(listed("get-user", "get_user")), "functions")]).keeper).rejects.toMatchObject({ code: "TOOL_DUPLICATE" });
  });
});
