import type { Diagnostic } from "@callgate/contract";

/** A diagnostic at an offset of the text. */
export interface Finding extends Omit<Diagnostic, "line" | "column" | "excerpt"> {
  readonly offset: number;
}

/** What a finding says. */
export type Said = Pick<Finding, "message" | "suggestions" | "declaration"> & { /** In place of the code of what was found. */ readonly code?: string };

export function error(code: string, offset: number, said: string | Said): Finding {
  return { severity: "error", code, offset, ...(typeof said === "string" ? { message: said } : said) };
}

export function warning(code: string, offset: number, said: string | Said): Finding {
  return { ...error(code, offset, said), severity: "warning" };
}

export function advice(code: string, offset: number, message: string): Finding {
  return { severity: "advice", code, offset, message };
}
