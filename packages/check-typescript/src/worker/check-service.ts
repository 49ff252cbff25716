import { getHeapStatistics } from "node:v8";
import type { NamespaceMessage } from "@callgate/runtime/check-parts";
import { checkProgram } from "../program/check-program.ts";
import { createCompiler } from "../program/compiler.ts";
import { createEnvironment, knownNamespace, withUnavailable } from "../program/environment.ts";
import type { Environment, KnownNamespace } from "../program/environment.ts";
import { hostModules } from "../program/node-world.ts";
import type { NodeWorld } from "../program/node-world.ts";
import type { CheckerAnswer, CheckerRequest } from "./messages.ts";

/** Environments kept: one for each set of namespaces in use, which is one for each group of principals. */
const maxEnvironments = 16;

/** What the first program would otherwise pay for: reading, parsing and binding the language's own declarations. */
const warmText = "const list: number[] = [1].map((item) => item + 1);\nreturn { total: list.length, text: `${list}` };";

/**
 * Answers one request after the other. Never throws.
 *
 * @param node for programs that run in Node
 */
export function createCheckService(node?: NodeWorld): (request: CheckerRequest) => CheckerAnswer {
  const compiler = createCompiler(node);
  const modules = node === undefined ? undefined : hostModules(node);
  const known = new Map<string, KnownNamespace>();
  const environments = new Map<string, Environment>();

  const environmentOf = (namespaces: readonly NamespaceMessage[]): Environment => {
    for (const { key, namespace, load } of namespaces) if (load !== undefined) known.set(key, knownNamespace(namespace, load.text, new Map(load.tools)));
    const setKey = namespaces.map(({ key }) => key).sort().join(" ");
    const kept = environments.get(setKey);
    if (kept !== undefined) return kept;
    const made = createEnvironment(namespaces.flatMap(({ key }) => known.get(key) ?? []), modules);
    const [oldest] = environments.keys();
    if (environments.size >= maxEnvironments && oldest !== undefined) environments.delete(oldest);
    environments.set(setKey, made);
    return made;
  };

  return (request) => {
    const { id } = request;
    try {
      const environment = withUnavailable(environmentOf(request.namespaces), request.kind === "check" ? request.unavailable : undefined);
      if (request.kind === "warm") {
        checkProgram({ text: warmText, environment, lane: "execute" }, compiler);
        checkProgram({ text: warmText.replace(": number[]", ""), environment, lane: "execute" }, compiler);
        return { kind: "warmed", id, heapMiB: heapMiB() };
      }
      return { kind: "report", id, report: checkProgram({ text: request.text, environment, lane: request.lane, known: request.known === undefined ? undefined : new Set(request.known) }, compiler), heapMiB: heapMiB() };
    } catch (thrown) {
      if (thrown instanceof RangeError) return { kind: "overflow", id };
      return { kind: "fault", id, message: thrown instanceof Error ? thrown.message : "unknown" };
    }
  };
}

function heapMiB(): number {
  return getHeapStatistics().used_heap_size / 1024 / 1024;
}
