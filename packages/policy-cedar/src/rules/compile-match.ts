import type { Expr } from "@cedar-policy/cedar-wasm/nodejs";
import { all, any, attribute, contains, entity, equals, globTest, isEmpty, isInAny, not, value, variable } from "../cedar/expression.ts";
import { compileValueTests } from "./compile-value-tests.ts";
import type { Fail } from "./compile-value-tests.ts";
import { qualifiedGlob, segmentProblem } from "@callgate/runtime/broker";
import type { RuleMatch } from "./rule-shape.ts";

const principal = variable("principal");
const resource = variable("resource");
const context = variable("context");

/**
 * Compiles one side of a rule: all its keys must hold. What is known of a principal and a tool without a call comes first,
 * so that a policy is settled by that where it can be.
 *
 * @param fail makes the error for a key that cannot hold
 */
export function compileMatch(match: RuleMatch, fail: Fail): Expr {
  for (const [key, given] of Object.entries(match)) {
    if (Array.isArray(given) && given.length === 0) throw fail(`.${key}`, "is an empty list, which nothing matches; name something or leave the key out");
  }
  return all([...principalTests(match), ...toolTests(match, fail), ...runTests(match), ...callTests(match, fail)]);
}

function principalTests({ user, agent, role, tenant }: RuleMatch): readonly Expr[] {
  const sides = [["User", user], ["Agent", agent], ["Role", role], ["Tenant", tenant]] as const;
  return sides.flatMap(([type, ids]) => (ids === undefined ? [] : [isInAny(principal, type, listOf(ids))]));
}

function toolTests({ tool, namespace, effect, tag, permission, label }: RuleMatch, fail: Fail): readonly Expr[] {
  const tests: Expr[] = [];
  if (tool !== undefined) tests.push(any(listOf(tool).map((pattern) => toolTest(pattern, (problem) => fail(".tool", `"${pattern}" ${problem}`)))));
  if (namespace !== undefined) tests.push(any(listOf(namespace).map((pattern) => namespaceTest(pattern, (problem) => fail(".namespace", `"${pattern}" ${problem}`)))));
  const groups = [["Effect", effect], ["Tag", tag], ["Permission", permission], ["Label", label]] as const;
  for (const [type, ids] of groups) if (ids !== undefined) tests.push(isInAny(resource, type, listOf(ids)));
  return tests;
}

function toolTest(pattern: string, refuse: (problem: string) => Error): Expr {
  const glob = qualifiedGlob(pattern);
  if (typeof glob === "string") throw refuse(glob);
  if (!pattern.includes("*")) return equals(resource, entity("Tool", pattern));
  return all([inNamespace(glob.namespace), globTest(attribute(resource, "name"), glob.member)]);
}

function namespaceTest(pattern: string, refuse: (problem: string) => Error): Expr {
  const problem = segmentProblem(pattern);
  if (problem !== undefined) throw refuse(problem);
  return inNamespace(pattern);
}

function inNamespace(pattern: string): Expr {
  return pattern.includes("*") ? globTest(attribute(resource, "namespace"), pattern) : isInAny(resource, "Namespace", [pattern]);
}

function runTests({ run, launcher, network, mount, package: packages, reach, newAgent }: RuleMatch): readonly Expr[] {
  const languages = run === undefined ? [] : listOf(run).filter((language) => language !== "*");
  const sets = [["network", network], ["mounts", mount], ["packages", packages], ["reach", reach]] as const;
  const isNew = attribute(context, "newAgent");
  return [
    ...(languages.length === 0 ? [] : [isInAny(resource, "Language", languages)]),
    ...(launcher === undefined ? [] : [any(listOf(launcher).map((name) => equals(attribute(context, "launcher"), value(name))))]),
    ...sets.flatMap(([attr, wanted]) => (wanted === undefined ? [] : [setTest(attribute(context, attr), wanted)])),
    ...(newAgent === undefined ? [] : [newAgent ? isNew : not(isNew)]),
  ];
}

/** `true`: there is one; `false`: there is none; else one of these is there. */
function setTest(set: Expr, wanted: boolean | string | readonly string[]): Expr {
  if (typeof wanted === "boolean") return wanted ? not(isEmpty(set)) : isEmpty(set);
  return any((typeof wanted === "string" ? [wanted] : wanted).map((item) => contains(set, value(item))));
}

function callTests({ claim, lane, taint, args, result }: RuleMatch, fail: Fail): readonly Expr[] {
  return [
    ...(claim === undefined ? [] : compileValueTests(claim, attribute(principal, "claims"), (key, problem) => fail(`.claim${key}`, problem))),
    ...(lane === undefined ? [] : [equals(attribute(context, "lane"), value(lane))]),
    ...(taint === undefined ? [] : [any(listOf(taint).map((label) => contains(attribute(context, "taint"), value(label))))]),
    ...(args === undefined ? [] : compileValueTests(args, attribute(context, "args"), (key, problem) => fail(`.args${key}`, problem))),
    ...(result === undefined ? [] : compileValueTests(result, attribute(context, "result"), (key, problem) => fail(`.result${key}`, problem))),
  ];
}

function listOf<Item extends string>(given: Item | readonly Item[]): readonly Item[] {
  return typeof given === "string" ? [given] : given;
}
