import type ts from "typescript";
import type { Explaining } from "./explain.ts";
import type { Finding, Fix } from "./finding.ts";

export function findRepairs(_typed: readonly { readonly diagnostic: ts.Diagnostic; readonly finding: Finding }[], _context: Explaining): Fix[] {
  return [];
}
