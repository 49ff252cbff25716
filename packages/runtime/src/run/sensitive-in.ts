import { decodeValue } from "@callgate/contract";
import type { WireValue } from "@callgate/contract";
import { sensitiveValues } from "../broker/sensitive-values.ts";
import type { CatalogView } from "./catalog-view.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** Clear texts that the tools of the recorded calls call sensitive, as far as the tools are still there. */
export function sensitiveIn({ issued, completions }: Pick<RecordedRun, "issued" | "completions">, { catalog }: CatalogView): Set<string> {
  const found = new Set<string>();
  const look = (tool: string, side: "input" | "output", wire: WireValue | undefined): void => {
    const prefix = `/${side}`;
    const pointers = (catalog.resolve(tool)?.tool.sensitive ?? []).filter((pointer) => pointer === prefix || pointer.startsWith(`${prefix}/`)).map((pointer) => pointer.slice(prefix.length));
    if (pointers.length > 0 && wire !== undefined) for (const value of sensitiveValues(decodeValue(wire), pointers)) found.add(value);
  };
  for (const { tool, args } of issued.values()) look(tool, "input", args?.clear);
  for (const { call, result } of completions) if (call.kind === "tool" && result.kind === "value") look(call.tool, "output", result.value);
  return found;
}
