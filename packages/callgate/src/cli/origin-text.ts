import type { ArgumentOrigins, Origin } from "@callgate/contract";
import { visible } from "./terminal.ts";

/** Where a value was seen before, in a line. */
export function originText({ origins }: Pick<ArgumentOrigins, "origins">): string {
  return origins.length === 0 ? "no answer (computed, or too common to tell)" : origins.map(oneOrigin).join("; ");
}

function oneOrigin({ kind, seq, tool = "", path = "", how }: Origin): string {
  if (kind === "program") return "the program's own text";
  return `${kind === "placeholder" ? "the placeholder of " : ""}${visible(tool)} (#${seq ?? ""})${path === "" ? "" : ` ${visible(path)}`}${howWords[how]}`;
}

const howWords = { same: "", part: ", a part of it", holds: ", among other text", decoded: ", encoded" } as const;
