import type { Diagnostic, Repair } from "@callgate/contract";
import type { Edit } from "./edited-text.ts";

/** A diagnostic at an offset of whatever text is being looked at. */
export interface Finding extends Omit<Diagnostic, "line" | "column" | "excerpt"> {
  readonly offset: number;
}

/** A repair as an edit of that text. */
export interface Fix {
  readonly kind: Repair["kind"];
  readonly message: string;
  readonly edits: readonly Edit[];
  readonly offset: number;
}

/** What a finding says. */
export type Said = Pick<Finding, "message" | "suggestions" | "declaration">;

export function error(code: string, offset: number, said: string | Said): Finding {
  return { severity: "error", code, offset, ...(typeof said === "string" ? { message: said } : said) };
}

export function warning(code: string, offset: number, said: string | Said): Finding {
  return { ...error(code, offset, said), severity: "warning" };
}

export function advice(code: string, offset: number, message: string): Finding {
  return { severity: "advice", code, offset, message };
}
