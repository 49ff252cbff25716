/** One call of a data set, and what it came to there. */
export interface WrittenCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * Calls that are written down as one program. What a call throws is kept as its answer, as the sets have it: later calls are
 * made all the same.
 *
 * @param tool how a program spells the tool of a call
 */
export function programOf(calls: readonly WrittenCall[], tool: (name: string) => string): string {
  const lines = calls.map((call) => `await attempt(() => ${tool(call.name)}(${JSON.stringify(call.arguments)}));`);
  return `import * as tools from "tools";
const results: unknown[] = [];
async function attempt(call: () => Promise<unknown>): Promise<void> {
  try { results.push(await call()); } catch (error) { results.push("Error: " + (error as Error).message); }
}
${lines.join("\n")}
return JSON.stringify(results).length;`;
}

/** What every case of a set has, unless it says otherwise. */
export const caseDefaults = { tags: [], given: {}, submissions: 1, mustFail: [], calls: [], state: [], answer: { includes: [], excludes: [] }, budgets: {} } as const;
