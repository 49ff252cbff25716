import type { Journal, Label, TaintMark, TaintScope } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";

/** What has reached one run, as far as it is known in this process. */
export interface RunTaint {
  /** A label once. */
  readonly marks: readonly TaintMark[];
  /** Of these marks. */
  readonly labels: readonly Label[];
  /**
   * Brings `marks` up to date with what other processes have kept; undefined where nobody else can have added anything.
   * `always`: also when they were read before. Rejects with the journal's errors.
   */
  refresh(always: boolean): Promise<void> | undefined;
  /** Adds what an answer brought. Resolves once it is on record; undefined when none of it is new. Rejects with the journal's errors; `marks` has it all the same. */
  add(marks: readonly TaintMark[]): Promise<void> | undefined;
}

/** What has reached the runs, tasks, conversations and sessions of this process. */
export interface TaintKeeper {
  /** @param isNew false where an earlier stretch of the run was elsewhere */
  of(tenant: string, scopes: readonly TaintScope[], isNew: boolean): RunTaint;
}

/** Scopes beyond runs that are remembered here; others are read again. */
const maxScopes = 10_000;

/**
 * Labels are few and come once, so they are written when they come and then only read: before a call that may carry
 * something away, for another process may have added to the same task or conversation.
 */
export function createTaintKeeper(journal: Pick<Journal, "addTaint" | "readTaint">): TaintKeeper {
  const kept = new LRUCache<string, Map<Label, TaintMark>>(atMost(maxScopes));
  /** Runs on whose behalf others run here: what those read is on record before the answer, and read again. */
  const outer = new LRUCache<string, true>(atMost(maxScopes));

  function marksOf(tenant: string, scope: TaintScope): Map<Label, TaintMark> {
    if (scope.kind === "run") return new Map();
    const key = JSON.stringify([tenant, scope.kind, scope.user, scope.id]);
    let found = kept.get(key);
    if (found === undefined) kept.set(key, (found = new Map()));
    return found;
  }

  return {
    of(tenant, scopes, isNew) {
      const places = scopes.map((scope) => ({ scope, marks: marksOf(tenant, scope) }));
      const [own] = scopes;
      for (const { kind, id } of scopes.slice(1)) if (kind === "run") outer.set(JSON.stringify([tenant, id]), true);
      const isShared = (): boolean => scopes.length > 1 || (own?.kind === "run" && outer.has(JSON.stringify([tenant, own.id])));
      let isRead = isNew;

      let known: { readonly size: number } & Pick<RunTaint, "marks" | "labels"> = { size: 0, marks: [], labels: [] };

      /** Asked for with every call; marks only ever come. */
      function all(): typeof known {
        const size = places.reduce((sum, { marks }) => sum + marks.size, 0);
        if (size === known.size) return known;
        const first = new Map<Label, TaintMark>();
        for (const { marks } of places) for (const mark of marks.values()) if (mark.atMs < (first.get(mark.label)?.atMs ?? Infinity)) first.set(mark.label, mark);
        known = { size, marks: [...first.values()], labels: [...first.keys()] };
        return known;
      }

      return {
        get marks() {
          return all().marks;
        },
        get labels() {
          return all().labels;
        },
        refresh(always) {
          if (isRead && !(always && isShared())) return undefined;
          return journal.readTaint(tenant, scopes).then((found) => {
            isRead = true;
            // Of all scopes together: for the run they are its own.
            for (const mark of found) note(places[0]?.marks, mark);
          });
        },
        add(marks) {
          const lacking = places.filter((place) => marks.some(({ label }) => !place.marks.has(label)));
          if (lacking.length === 0) return undefined;
          for (const place of lacking) for (const mark of marks) note(place.marks, mark);
          return journal.addTaint(tenant, lacking.map(({ scope }) => scope), marks);
        },
      };
    },
  };
}

function note(marks: Map<Label, TaintMark> | undefined, mark: TaintMark): void {
  if (marks?.has(mark.label) === false) marks.set(mark.label, mark);
}
