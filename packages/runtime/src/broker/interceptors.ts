import { CallgateError } from "@callgate/contract";
import type { Interceptor } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import { globMatches, qualifiedGlob } from "../lib/name-glob.ts";

/** The interceptors of a gate that mean a tool, in their order. */
export type Interceptors = (tool: string) => readonly Interceptor[];

/** Types for an interceptor that is written by itself; returns its argument. */
export function defineInterceptor<Args = unknown, Output = unknown>(interceptor: Interceptor<Args, Output>): Interceptor {
  return interceptor as Interceptor;
}

const maxTimeoutMs = 600_000;

/** Undefined where there is none. Errors: `CallgateError` USAGE. */
export function createInterceptors(given: readonly Interceptor[]): Interceptors | undefined {
  if (given.length === 0) return undefined;
  const globs = given.map((one, index) => {
    const refuse = (problem: string): CallgateError => new CallgateError("USAGE", `interceptors[${index}]${problem}`);
    const { name, tools = "*", timeoutMs = 1 } = one;
    if (!/^[\w-]{1,64}$/.test(name)) throw refuse(".name must be 1 to 64 letters, digits, - or _");
    if (given.findIndex((other) => other.name === name) !== index) throw refuse(`.name "${name}" is there twice; each needs its own`);
    if (typeof one.before !== "function" && typeof one.after !== "function") throw refuse(` (${name}) does nothing: give before, after, or both`);
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs) throw refuse(`.timeoutMs must be a whole number from 1 to ${maxTimeoutMs}, not ${String(timeoutMs)}`);
    return (typeof tools === "string" ? [tools] : tools).map((pattern) => {
      const glob = qualifiedGlob(pattern);
      if (typeof glob === "string") throw refuse(`.tools "${pattern}" ${glob}`);
      return glob;
    });
  });
  const byTool = new LRUCache<string, readonly Interceptor[]>(atMost(10_000));
  return (tool) => {
    let meant = byTool.get(tool);
    if (meant === undefined) byTool.set(tool, (meant = given.filter((_one, index) => globs[index]?.some((glob) => globMatches(glob, tool)) ?? false)));
    return meant;
  };
}
