import { decodeValue } from "@callgate/contract";
import type { Blobs, Journal, Principal, ReadResult, RunRecord } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import type { RunTaint } from "../provenance/taint-keeper.ts";
import { taintScopes } from "../provenance/taint-scopes.ts";
import { parseHandle } from "../result/handle.ts";
import { failure, readPart } from "../result/read-part.ts";
import type { PartBudget, PartOptions } from "../result/read-part.ts";

/** Reads kept results. A handle is good for the tenant and user whose run made it, and for nobody else. */
export interface ResultReader {
  read(handle: string, options: PartOptions, asker: { readonly principal: Principal; readonly budget: PartBudget | undefined; /** Hears of the labels that the result brings along. */ readonly taint: RunTaint; /** What is read goes into a program, whose calls may be real. */ readonly isProgram?: true }): Promise<ReadResult>;
}

/** Decoded values kept between reads, by characters of their JSON: paging through a large result parses it once. */
const maxKeptChars = 64 * 1024 * 1024;

export function createResultReader({ journal, blobs }: { readonly journal: Journal; readonly blobs: Blobs }): ResultReader {
  const decoded = new LRUCache<string, { readonly value: unknown; readonly chars: number }>({ maxSize: maxKeptChars, maxEntrySize: maxKeptChars, sizeCalculation: ({ chars }) => chars + 1 });

  return {
    async read(handle, options, { principal, budget, taint, isProgram }) {
      const named = parseHandle(handle);
      if (named === undefined) return failure("HANDLE_NOT_FOUND", `"${String(handle).slice(0, 100)}" is no result handle; one looks like result://run_.../1`);
      const { tenant, user } = principal;
      const run = await journal.readRun(tenant, named.runId);
      // Another's handle and one that never was are not told apart.
      const entry = run !== undefined && run.principal.user === user ? await journal.readResult(tenant, named.runId, named.number) : undefined;
      if (run === undefined || entry === undefined) return failure("HANDLE_NOT_FOUND", `There is no result ${handle} for you. It may have been removed since; run the program again`);
      if (isProgram === true && (await holdsPlaceholders(journal, run))) return failure("HANDLE_REHEARSED", `${handle} is of a rehearsal (${named.runId}): what it holds may stand for something that is not there, so no program goes on with it. Run the program for real, or apply its plan, and read the result of that`);
      // What its task and conversation had read may be in it as well: a model wrote the program with that in mind.
      await taint.add(await journal.readTaint(tenant, taintScopes(run)));
      if (entry.artifact !== undefined) {
        const bytes = await blobs.get(tenant, entry.artifact.digest);
        if (bytes === undefined) return failure("HANDLE_NOT_FOUND", `The file ${entry.artifact.name} was removed from the store`);
        return { kind: "artifact", name: entry.artifact.name, mimeType: entry.artifact.mimeType, bytes };
      }
      const { clear } = entry.value;
      if (clear === undefined) return failure("HANDLE_NOT_FOUND", `The value of ${handle} is not kept any more (its run was erased); run the program again`);
      const key = JSON.stringify([tenant, named.runId, named.number]);
      let kept = decoded.get(key);
      if (kept === undefined) {
        kept = { value: decodeValue(clear), chars: clear.json.length };
        decoded.set(key, kept);
      }
      return readPart(kept.value, options, budget);
    },
  };
}

/** Whether answers of a run were placeholders, its own or those of a recorded rehearsal: what it returned may be made of them. */
async function holdsPlaceholders(journal: Pick<Journal, "readEntries">, { runId, kind, edits, principal: { tenant } }: RunRecord): Promise<boolean> {
  if (kind !== "rehearsal" && edits === undefined) return false;
  return (await journal.readEntries(tenant, runId)).some((entry) => entry.kind === "call-ended" && entry.simulated !== undefined);
}
