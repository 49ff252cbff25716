import { existsSync, readFileSync } from "node:fs";

/** One hostile program or answer, and what must have become of it. */
export interface SecurityCase {
  readonly id: string;
  readonly layer: string;
  readonly title: string;
  readonly snippet_or_steps: string;
  readonly oracle: string;
  readonly run: string | null;
}

/** The cases stand beside the repository, where they do: a test of them is skipped where `skip` says why. */
export const securityCasesUrl = new URL("../../../../shared/cases/security.jsonl", import.meta.url);

export function readSecurityCases(): { readonly cases: readonly SecurityCase[]; readonly skip: string | undefined } {
  if (!existsSync(securityCasesUrl)) return { cases: [], skip: "../shared/cases is not beside the repository" };
  return { cases: readFileSync(securityCasesUrl, "utf8").trim().split("\n").map((line) => JSON.parse(line) as SecurityCase), skip: undefined };
}
