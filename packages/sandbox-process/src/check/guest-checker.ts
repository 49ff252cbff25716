import type { Checker, CheckReport, CheckRequest, Effect, ProgramLanguage } from "@callgate/contract";

/**
 * A checker for languages whose programs are not read before they run: the guest's own parser says what is no program,
 * as an error of the run with line and column. It says the truth about reach: any tool the caller can see.
 *
 * Whatever a program calls is still validated and decided call by call, and the query lane still reaches reads only.
 */
export function createGuestChecker(language: ProgramLanguage): Checker {
  return {
    language,
    check: ({ text, namespaces }: CheckRequest): Promise<CheckReport> => {
      const effects = new Set<Effect>(namespaces.flatMap(({ tools }) => tools.map(({ effect }) => effect)));
      const canCall = language === "python";
      return Promise.resolve({ kind: "ok", form: "script", code: text, lineOffset: 0, shiftedLines: [], diagnostics: [], repairs: [], reach: canCall ? { tools: "*", effects: [...effects] } : { tools: [], effects: [] }, durationMs: 0 });
    },
    warm: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
