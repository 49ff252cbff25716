import type { Handle } from "@callgate/contract";

/** The name of a kept value. */
export function handleOf(runId: string, number: number): Handle {
  return `result://${runId}/${number}`;
}

/** Reads a handle as a model writes it: surrounding blanks, quotes or brackets do not count. Undefined when it is none. */
export function parseHandle(text: unknown): { readonly runId: string; readonly number: number } | undefined {
  if (typeof text !== "string") return undefined;
  const match = /^[\s"'`<(]*result:\/\/([A-Za-z0-9_-]{1,100})\/(\d{1,9})[\s"'`>).,]*$/.exec(text);
  return match?.[1] === undefined || match[2] === undefined ? undefined : { runId: match[1], number: Number(match[2]) };
}
