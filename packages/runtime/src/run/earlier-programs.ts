import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";

interface Owner {
  readonly tenant: string;
  readonly user: string;
}

/** Remembers the last programs of each principal, to explain a variable that one of them had. In this process only. */
export interface EarlierPrograms {
  add(owner: Owner, program: { readonly runId: string; readonly text: string }): void;
  /** The newest run whose program defined the name. Never looks at another principal's. */
  definedBefore(owner: Owner, name: string): string | undefined;
}

const keptPerOwner = 10;
const maxChars = 20_000;

export function createEarlierPrograms(): EarlierPrograms {
  const programs = new LRUCache<string, { readonly runId: string; readonly text: string }[]>(atMost(500));
  const keyOf = ({ tenant, user }: Owner): string => JSON.stringify([tenant, user]);
  return {
    add(owner, { runId, text }) {
      const key = keyOf(owner);
      const kept = programs.get(key) ?? [];
      kept.push({ runId, text: text.slice(0, maxChars) });
      if (kept.length > keptPerOwner) kept.shift();
      programs.set(key, kept);
    },
    definedBefore(owner, name) {
      const defines = new RegExp(`(?:\\b(?:const|let|var|function|class)\\s+(?:\\{[^}=]*\\b)?|^\\s*)${name.replace(/\$/g, "\\$")}\\b\\s*(?:[^=!<>\\s]|=(?!=))`, "mu");
      return programs.get(keyOf(owner))?.findLast(({ text }) => defines.test(text))?.runId;
    },
  };
}
