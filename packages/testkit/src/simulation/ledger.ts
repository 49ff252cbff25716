/** One change of the simulated world. */
export interface LedgerEntry {
  readonly tool: string;
  readonly n: number;
  readonly key: string;
  /** How often the service behind the tool carried it out. */
  applied: number;
  /** How often it was undone. */
  undone: number;
}

/**
 * The outside world of a simulation: it outlives every process. A service that honours idempotency keys counts a
 * repeated key once; the others count every time.
 */
export interface Ledger {
  readonly entries: readonly LedgerEntry[];
  apply(change: { readonly tool: string; readonly n: number; readonly key: string; readonly dedupes: boolean }): void;
  undo(tool: string, n: number, options: { readonly dedupes: boolean }): void;
  find(tool: string, n: number): LedgerEntry | undefined;
}

export function createLedger(): Ledger {
  const entries: LedgerEntry[] = [];
  const find = (tool: string, n: number): LedgerEntry | undefined => entries.find((entry) => entry.tool === tool && entry.n === n);
  return {
    entries,
    find,
    apply({ tool, n, key, dedupes }) {
      const known = find(tool, n);
      if (known === undefined) entries.push({ tool, n, key, applied: 1, undone: 0 });
      // An equal change under another key is a second one, whatever the service does about keys.
      else if (!dedupes || known.key !== key) known.applied += 1;
    },
    undo(tool, n, { dedupes }) {
      const known = find(tool, n);
      if (known !== undefined && !(dedupes && known.undone > 0)) known.undone += 1;
    },
  };
}

/** A ledger written down by real processes, a line a change: `did tool:n key` or `undid tool:n key`. */
export function ledgerOf(text: string): Ledger {
  const ledger = createLedger();
  for (const line of text.split("\n")) {
    const [what, change = "", key = ""] = line.split(" ");
    const [tool = "", n] = change.split(":");
    // `keyed` stands for a service that counts a key once.
    if (what === "did") ledger.apply({ tool, n: Number(n), key, dedupes: tool === "keyed" });
    else if (what === "undid") ledger.undo(tool, Number(n), { dedupes: tool === "keyed" });
  }
  return ledger;
}
