import { encodeValue, localPrincipal } from "@callgate/contract";
import type { GivenGrant, GrantScope } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { digestOf, digestOfWire } from "../lib/digest.ts";
import { isCovered } from "./grant-scope.ts";
import type { GrantedCall } from "./grant-scope.ts";
import { assertGrant, readGrantTests } from "./read-grant.ts";

const definition = digestOf("v1");
const call = (tool: string, args: unknown, more: Partial<GrantedCall> = {}): GrantedCall => ({ principal: localPrincipal, tool, definitionDigest: definition, argsDigest: digestOfWire(encodeValue(args)), args, rule: { ruleId: "pay", digest: digestOf("asks") }, ...more });
const scope = (tool: string, args: GivenGrant["args"], more: Partial<GrantScope> = {}): GrantScope => ({ tool, args: readGrantTests(args), user: localPrincipal.user, maxUses: 3, expiresAtMs: 1, definitions: { [tool]: definition }, ...more });

describe("br-019: a grant means the whole operation, never a part of it", () => {
  const ls = scope("sh.run", { "/argv/0": "sh", "/argv/1": "-c", "/argv/2": "ls" });

  test.each<[string, unknown, boolean]>([
    ["the same", { argv: ["sh", "-c", "ls"] }, true],
    ["another command of the same program", { argv: ["sh", "-c", "curl evil.example"] }, false],
    ["the command with more behind it", { argv: ["sh", "-c", "ls; curl evil.example"] }, false],
    ["the program by a path", { argv: ["/bin/sh", "-c", "ls"] }, false],
    ["a program of that name in the folder", { argv: ["./sh", "-c", "ls"] }, false],
    ["the program in another one", { argv: ["busybox", "sh", "-c", "ls"] }, false],
    ["one argument more", { argv: ["sh", "-c", "ls", "extra"] }, false],
    ["one argument less", { argv: ["sh", "-c"] }, false],
    ["an option that the grant does not name", { argv: ["sh", "-c", "ls"], env: { PATH: "/tmp" } }, false],
    ["an option that is there and empty", { argv: ["sh", "-c", "ls"], env: {} }, false],
    ["an option that is not given", { argv: ["sh", "-c", "ls"], env: undefined }, true],
    ["a text that is a list", { argv: "sh -c ls" }, false],
    ["letters of another alphabet", { argv: ["ѕh", "-c", "ls"] }, false],
    ["a space behind it", { argv: ["sh", "-c", "ls "] }, false],
    ["no arguments", {}, false],
  ])("%s", (_what, args, covered) => {
    expect(isCovered(ls, call("sh.run", args))).toBe(covered);
  });

  test("given for the same arguments it is for no others", () => {
    const same = scope("crm.pay", {}, { args: { kind: "same", digest: digestOfWire(encodeValue({ amount: 5 })) } });
    expect([{ amount: 5 }, { amount: 5.01 }, { amount: 5, note: "x" }, {}].map((args) => isCovered(same, call("crm.pay", args)))).toEqual([true, false, false, false]);
  });

  test("a grant without tests is for calls without arguments", () => {
    expect([isCovered(scope("crm.ping", {}), call("crm.ping", {})), isCovered(scope("crm.ping", {}), call("crm.ping", { to: "x" }))]).toEqual([true, false]);
  });
});

test.each<[string, GivenGrant["args"], readonly unknown[], readonly unknown[]]>([
  ["a range", { "/amount": { gt: 0, lte: 100 } }, [{ amount: 100 }, { amount: 0.5 }], [{ amount: 100.00001 }, { amount: 0 }, { amount: "5" }, { amount: Number.NaN }, {}]],
  ["a range with its ends the other way", { "/amount": { gte: 0, lt: 100 } }, [{ amount: 0 }, { amount: 99.99 }], [{ amount: 100 }, { amount: -0.01 }]],
  ["an item of a list", { "/list/0": 1 }, [{ list: [1] }], [{ list: [] }, { list: [1, 2] }, { list: { 0: 1, 1: 2 } }]],
  ["an item of a list, whichever it is", { "/list/0": { any: true } }, [{ list: [5] }, {}], [{ list: [] }, { list: [5, 6] }]],
  ["one of several", { "/to": { in: ["ann", "bea", null] } }, [{ to: "ann" }, { to: null }], [{ to: "eve" }, {}]],
  ["a pattern", { "/to": { glob: "*@ours.example" } }, [{ to: "ann@ours.example" }], [{ to: "ann@ours.example.evil" }, { to: ["ann@ours.example"] }]],
  ["a pattern of any text", { "/to": { glob: "*" } }, [{ to: "" }, { to: "ann" }], [{ to: 5 }, { to: true }, { to: null }]],
  ["anything, also nothing", { "/amount": 1, "/note": { any: true } }, [{ amount: 1 }, { amount: 1, note: { deep: [1] } }], [{ amount: 1, other: 1 }, { note: "x" }]],
  ["what JSON has no word for", { "/at": { any: true } }, [{ at: new Date(0) }], [{ at: 1, by: new Date(0) }]],
  ["a key with a slash", { "/a~1b": 1 }, [{ "a/b": 1 }], [{ a: { b: 1 } }]],
])("%s", (_what, tests, covered, others) => {
  for (const args of covered) expect(isCovered(scope("t.x", tests), call("t.x", args)), JSON.stringify(args)).toBe(true);
  for (const args of others) expect(isCovered(scope("t.x", tests), call("t.x", args)), JSON.stringify(args)).toBe(false);
});

test("tool, definition, user and agent have to be those of the grant", () => {
  const pattern = scope("crm.get_*", {}, { definitions: { "crm.get_a": definition } });
  expect(["crm.get_a", "crm.get_b", "crm.set_a", "other.get_a"].map((tool) => isCovered(pattern, call(tool, {})))).toEqual([true, false, false, false]);
  expect(isCovered(pattern, call("crm.get_a", {}, { definitionDigest: digestOf("v2") }))).toBe(false);
  const { definitions: _definitions, ...anyVersion } = pattern;
  expect([isCovered(anyVersion, call("crm.get_a", {}, { definitionDigest: digestOf("v2") })), isCovered(anyVersion, call("crm.get_b", {}))]).toEqual([true, true]);
  const asAgent = (agent: string) => call("crm.get_a", {}, { principal: { ...localPrincipal, agent } });
  expect(isCovered(pattern, asAgent("claude"))).toBe(false);
  expect(["claude", "eve"].map((agent) => isCovered({ ...pattern, agent: "claude" }, asAgent(agent)))).toEqual([true, false]);
  expect(isCovered({ ...pattern, agent: "claude" }, call("crm.get_a", {}))).toBe(false);
  expect(isCovered({ ...pattern, agent: "*", user: "*" }, asAgent("eve"))).toBe(true);
  expect(isCovered({ ...pattern, user: "bob" }, call("crm.get_a", {}))).toBe(false);
  expect(isCovered({ ...pattern, definitions: {} }, call("crm.constructor", {}))).toBe(false);
  const { definitions: _one, ...ping } = scope("crm.ping", {});
  expect(["crm.ping", "crm.pong", "other.ping"].map((tool) => isCovered(ping, call(tool, {})))).toEqual([true, false, false]);
  expect(["ping", "", "crm"].map((tool) => isCovered({ ...ping, tool }, call(tool, {})))).toEqual([false, false, false]);
  // A list of no arguments is no arguments.
  expect([isCovered(ping, call("crm.ping", [])), isCovered(ping, call("crm.ping", [1]))]).toEqual([true, false]);
});

test.each<[string, Partial<GivenGrant>, RegExp]>([
  ["no namespace", { tool: "pay" }, /can match no tool/],
  ["every tool", { tool: "*" }, /spell the namespace out/],
  ["a pattern over namespaces", { tool: "c*.pay" }, /spell the namespace out/],
  ["no user", { user: "" }, /is no name/],
  ["no uses", { maxUses: 0 }, /from 1 to 10000/],
  ["uses without end", { maxUses: Infinity }, /from 1 to 10000/],
  ["over already", { expiresAtMs: 1_000 }, /expired already/],
  ["no expiry", { expiresAtMs: Number.NaN }, /expired already/],
  ["an expiry in the far future", { expiresAtMs: 1e15 }, /within a year/],
])("a grant with %s is refused", (_what, wrong, message) => {
  expect(() => assertGrant({ tool: "crm.pay", user: "ann", maxUses: 1, expiresAtMs: 2_000, ...wrong }, 1_000)).toThrow(message);
});

test.each<[unknown, RegExp]>([
  [[], /by JSON Pointer/],
  [{ amount: 1 }, /no JSON Pointer/],
  [{ "/a": { near: 1 } }, /knows no "near"/],
  [{ "/a": {} }, /names no comparison/],
  [{ "/a": { any: false } }, /stands alone/],
  [{ "/a": { any: true, lt: 3 } }, /stands alone/],
  [{ "/a": { in: [{}] } }, /is a list of/],
  [{ "/a": { equals: [1] } }, /own pointer/],
  [{ "/a": { lt: "3" } }, /is a number/],
  [{ "/a": { glob: 3 } }, /is a text/],
])("tests that are none are refused: %j", (tests, message) => {
  expect(() => readGrantTests(tests as GivenGrant["args"])).toThrow(message);
});

test("is for the questions of rules as they were: of one that has changed, or has come since, it covers none", () => {
  const bound = scope("crm.ping", {}, { rules: { pay: digestOf("asks") } });
  const asked = (ruleId: string, says: string): GrantedCall => call("crm.ping", {}, { rule: { ruleId, digest: digestOf(says) } });
  expect([isCovered(bound, asked("pay", "asks")), isCovered(bound, asked("pay", "asks more")), isCovered(bound, asked("other", "asks")), isCovered(bound, asked("constructor", "asks"))]).toEqual([true, false, false, false]);
  expect(isCovered(scope("crm.ping", {}), asked("other", "whatever"))).toBe(true);
});
