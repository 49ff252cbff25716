import type { Label, SourcePassThrough, TaintMark } from "@callgate/contract";
import type { RunTaint } from "./taint-keeper.ts";

export interface LabelledPassThroughOptions {
  /** Of the source. */
  readonly namespace: string;
  readonly labels: readonly Label[];
  /** Of whoever reads. */
  readonly taint: RunTaint;
  readonly nowMs: () => number;
}

/**
 * The resources and prompts of a source whose labels stay with who reads them. They are on record before anything is handed
 * over, so also where the read then fails: the words of an error are the source's as well. A list brings none, as the
 * descriptions of tools bring none.
 */
export function labelledPassThrough(source: SourcePassThrough, { namespace, labels, taint, nowMs }: LabelledPassThroughOptions): SourcePassThrough {
  const marks = (): readonly TaintMark[] => labels.map((label) => ({ label, tool: namespace, atMs: nowMs() }));
  return {
    ...(source.listTools === undefined ? {} : { listTools: async (signal) => (await source.listTools?.(signal)) ?? [] }),
    listResources: (signal) => source.listResources(signal),
    listResourceTemplates: (signal) => source.listResourceTemplates(signal),
    listPrompts: (signal) => source.listPrompts(signal),
    ...(source.notices === undefined ? {} : { notices: source.notices }),
    async readResource(uri, signal) {
      await taint.add(marks());
      return await source.readResource(uri, signal);
    },
    async getPrompt(name, args, signal) {
      await taint.add(marks());
      return await source.getPrompt(name, args, signal);
    },
  };
}
