import type { SyntaxNode } from "@lezer/common";
import type { Lane } from "@callgate/contract";
import { advice, error, warning } from "@callgate/runtime/check-parts";
import type { Finding } from "@callgate/runtime/check-parts";
import { argumentsOf, around, isWithin, textOf } from "./python-tree.ts";
import type { PythonTree } from "./python-tree.ts";
import type { ToolCall, ToolUses } from "./tool-uses.ts";

/** Advice on more calls helps nobody, and looking at one takes time that grows with the program. */
const maxAdvisedCalls = 100;

/** In the read lane a write that the program names is an error; one it may reach at run time is refused there. */
export function findLaneFaults(uses: ToolUses, lane: Lane): Finding[] {
  if (lane === "execute") return [];
  const faults = uses.named.filter(({ tool }) => tool.effect !== "read").map(({ node, tool }) => error("LANE_WRITE", node.from, { message: `${tool.name} may change the world (effect ${tool.effect}); this entry point runs programs that only read. Leave the call out, or run the program where writes are allowed`, declaration: tool.declaration }));
  if (faults.length > 0 || uses.dynamic === undefined || !uses.reach.effects.some((effect) => effect !== "read")) return faults;
  return [warning("LANE_DYNAMIC", uses.dynamic.from, "Which tools are called here is only known at run time; calls of tools that are not reads will be refused then")];
}

/** Things that work and could be better: what could run at once, what may not end, what is asked twice. */
export function findAdvice(tree: PythonTree, uses: ToolUses): Finding[] {
  const findings: Finding[] = [];
  for (const call of uses.calls.slice(0, maxAdvisedCalls)) {
    const loop = loopAround(call.node);
    if (loop === undefined) continue;
    const given = namesIn(call.node.getChild("ArgList"), tree);
    const changed = changedIn(loop, tree);
    if (loop.name === "ForStatement") findings.push(...independentCalls(call, { loop, given, changed }));
    else if ([...given].some((name) => changed.has(name)) && !comparesNumbers(loop, tree)) findings.push(advice("PAGING_UNBOUNDED", call.node.from, `This loop asks ${call.tool.name} for page after page without a bound; stop after a number of pages or items you can use`));
  }
  return [...findings, ...repeatedCalls(uses.calls, tree)];
}

/** The loop whose rounds repeat the node; what a `for` goes over is asked once. */
function loopAround(node: SyntaxNode): SyntaxNode | undefined {
  const found = around(node, ["ForStatement", "WhileStatement", "FunctionDefinition", "LambdaExpression"]);
  if (found?.name === "WhileStatement") return found;
  const body = found?.name === "ForStatement" ? found.getChild("Body") : null;
  return body !== null && isWithin(node, body) ? found : undefined;
}

interface Loop {
  readonly loop: SyntaxNode;
  /** Names the call's arguments read. */
  readonly given: ReadonlySet<string>;
  /** Names that carry something from round to round. */
  readonly changed: ReadonlySet<string>;
}

/** Reads in a loop that need nothing of an earlier round. Writes stay in their order. */
function independentCalls({ node, tool, isAsync }: ToolCall, { loop, given, changed }: Loop): Finding[] {
  if (tool.effect !== "read" || leavesEarly(loop) || [...given].some((name) => changed.has(name))) return [];
  if (isAsync && node.parent?.name !== "AwaitExpression") return [];
  const [space = "", member = ""] = tool.name.split(".");
  return [advice("CALLS_IN_SEQUENCE", node.from, `${tool.name} is called once per round, and no round needs the one before it; await aio.gather(*[aio.${space}.${member}(…) for item in items]) makes the calls at once (from tools import aio)`)];
}

function namesIn(node: SyntaxNode | null, tree: PythonTree): Set<string> {
  if (node === null) return new Set();
  return new Set(tree.names.filter((name) => name.name === "VariableName" && isWithin(name, node) && !(name.parent?.name === "ArgList" && name.nextSibling?.name === "AssignOp")).map((name) => textOf(name, tree)));
}

/** Assigned in the loop and alive before it: by the same name, earlier in the text. */
function changedIn(loop: SyntaxNode, tree: PythonTree): Set<string> {
  const targets = tree.assignments.flatMap((statement) => (statement.firstChild?.name === "VariableName" ? [{ name: textOf(statement.firstChild, tree), at: statement }] : []));
  const before = new Set(targets.filter(({ at }) => at.from < loop.from).map(({ name }) => name));
  return new Set(targets.filter(({ at, name }) => isWithin(at, loop) && (at.name === "UpdateStatement" || before.has(name))).map(({ name }) => name));
}

function leavesEarly(loop: SyntaxNode): boolean {
  return hasNode(loop, ["BreakStatement", "ReturnStatement"]);
}

function comparesNumbers(loop: SyntaxNode, { text }: PythonTree): boolean {
  let found = false;
  loop.cursor().iterate((at) => {
    if (at.name === "CompareOp" && /^[<>]=?$/.test(text.slice(at.from, at.to))) found = true;
    return !found;
  });
  return found;
}

function hasNode(node: SyntaxNode, names: readonly string[]): boolean {
  let found = false;
  node.cursor().iterate((at) => {
    if (names.includes(at.name)) found = true;
    return !found && at.name !== "FunctionDefinition";
  });
  return found;
}

/** The same read with the same literal arguments: its result is already held. */
function repeatedCalls(calls: readonly ToolCall[], tree: PythonTree): Finding[] {
  const seen = new Map<string, ToolCall>();
  const findings: Finding[] = [];
  for (const call of calls) {
    const given = argumentsOf(call.node);
    if (call.tool.effect !== "read" || !given.every(({ value }) => ["String", "Number", "Boolean", "None"].includes(value.name))) continue;
    const key = `${call.tool.name}(${given.map(({ keyword, value }) => `${keyword === undefined ? "" : textOf(keyword, tree)}=${textOf(value, tree)}`).sort().join()})`;
    const before = seen.get(key);
    if (before === undefined) seen.set(key, call);
    else if (!calls.some(({ node, tool }) => tool.effect !== "read" && node.from > before.node.from && node.from < call.node.from)) findings.push(advice("CALL_REPEATED", call.node.from, `${call.tool.name} was already called with these arguments; keep its result in a variable`));
  }
  return findings;
}
