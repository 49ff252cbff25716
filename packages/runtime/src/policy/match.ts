import type { Lane, Principal, ToolSpec } from "@callgate/contract";
import { compileArguments } from "./match-arguments.ts";
import { qualifiedGlob, segmentGlob } from "./name-glob.ts";
import type { Glob } from "./name-glob.ts";
import type { RuleMatch } from "./rule-shape.ts";

/** What is held against a rule. Without `call` only what never changes for a principal is known. */
export interface Subject {
  readonly principal: Principal;
  /** Undefined for any tool of the namespace. */
  readonly tool: string | undefined;
  readonly namespace: string;
  readonly spec: Pick<ToolSpec, "effect" | "tags" | "permissions" | "labels">;
  readonly call: { readonly lane: Lane; readonly args: unknown } | undefined;
}

/** `maybe`: it depends on the lane or arguments of a call that is not known yet. */
export type Answer = "yes" | "no" | "maybe";

export type Match = (subject: Subject) => Answer;

type Fail = (key: string, problem: string) => Error;
type Test = (subject: Subject) => boolean | "maybe";

/** Compiles one side of a rule. @param fail makes the error for a key that cannot hold, `""` for the whole side */
export function compileMatch(match: RuleMatch, fail: Fail): Match {
  for (const [key, value] of Object.entries(match)) {
    if (Array.isArray(value) && value.length === 0) throw fail(`.${key}`, "is an empty list, which nothing matches; name something or leave the key out");
  }
  const fixed: readonly Test[] = [...toolTests(match, fail), ...principalTests(match)];
  const { lane, args } = match;
  const ofCall = args === undefined ? undefined : compileArguments(args);
  return (subject) => {
    const answers = fixed.map((test) => test(subject));
    if (answers.includes(false)) return "no";
    if (answers.includes("maybe")) return "maybe";
    if (lane === undefined && ofCall === undefined) return "yes";
    const { call } = subject;
    if (call === undefined) return "maybe";
    return (lane === undefined || lane === call.lane) && (ofCall === undefined || ofCall(call.args)) ? "yes" : "no";
  };
}

function toolTests(match: RuleMatch, fail: Fail): readonly Test[] {
  const tests: Test[] = [];
  const { tool, namespace, effect, tag, permission, label } = match;
  if (tool !== undefined) {
    const globs = globsOf(tool, qualifiedGlob, (problem) => fail(".tool", problem));
    tests.push(({ tool: name, namespace: space }) => (name === undefined ? anyOf(globs.map((glob) => glob.within(space))) : globs.some((glob) => glob.matches(name))));
  }
  if (namespace !== undefined) {
    const globs = globsOf(namespace, segmentGlob, (problem) => fail(".namespace", problem));
    tests.push(({ namespace: name }) => globs.some((glob) => glob.matches(name)));
  }
  if (effect !== undefined) tests.push(({ spec }) => listOf(effect).includes(spec.effect));
  if (tag !== undefined) tests.push(({ spec }) => overlaps(tag, spec.tags));
  if (permission !== undefined) tests.push(({ spec }) => overlaps(permission, spec.permissions));
  if (label !== undefined) tests.push(({ spec }) => overlaps(label, spec.labels));
  return tests;
}

function principalTests({ user, agent, role, tenant }: RuleMatch): readonly Test[] {
  const tests: Test[] = [];
  if (user !== undefined) tests.push(({ principal }) => overlaps(user, [principal.user]));
  if (agent !== undefined) tests.push(({ principal }) => overlaps(agent, principal.agent === undefined ? [] : [principal.agent]));
  if (role !== undefined) tests.push(({ principal }) => overlaps(role, principal.roles));
  if (tenant !== undefined) tests.push(({ principal }) => overlaps(tenant, [principal.tenant]));
  return tests;
}

function anyOf(answers: readonly (boolean | "maybe")[]): boolean | "maybe" {
  return answers.includes(true) || (answers.includes("maybe") && "maybe");
}

function globsOf<Kind extends Glob>(patterns: string | readonly string[], compile: (pattern: string) => Kind | string, fail: (problem: string) => Error): readonly Kind[] {
  return listOf(patterns).map((pattern) => {
    const glob = compile(pattern);
    if (typeof glob === "string") throw fail(`"${pattern}" ${glob}`);
    return glob;
  });
}

function listOf<Item extends string>(value: Item | readonly Item[]): readonly Item[] {
  return typeof value === "string" ? [value] : value;
}

function overlaps(wanted: string | readonly string[], has: readonly string[]): boolean {
  return listOf(wanted).some((item) => has.includes(item));
}
