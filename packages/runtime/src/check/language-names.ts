import type { KnownLanguage, ProgramLanguage } from "@callgate/contract";

/** What models, files and people call the languages that programs are written in; lower case, the usual name first. */
export const languageNames = {
  typescript: ["typescript", "ts", "mts"],
  javascript: ["javascript", "js", "mjs"],
  node: ["node", "nodejs"],
  python: ["python", "py", "python3", "py3"],
  shell: ["shell", "bash", "sh"],
  // Languages that a configuration may register.
  ruby: ["ruby", "rb"],
  perl: ["perl", "pl"],
  r: ["r", "rscript"],
  go: ["go", "golang"],
  rust: ["rust", "rs"],
  julia: ["julia", "jl"],
  php: ["php"],
  lua: ["lua"],
  awk: ["awk"],
} as const satisfies Readonly<Record<KnownLanguage, readonly string[]>> & Readonly<Record<string, readonly string[]>>;

/** All names of a language; one that is not known is called by its own name only. */
export function namesOf(language: ProgramLanguage): readonly string[] {
  return Object.hasOwn(languageNames, language) ? languageNames[language as keyof typeof languageNames] : [language];
}

/** The language that a name in any case means, among those there are; undefined when it means none of them. */
export function languageOf(name: string, languages: readonly ProgramLanguage[]): ProgramLanguage | undefined {
  const wanted = name.toLowerCase();
  return languages.find((language) => language === wanted) ?? languages.find((language) => namesOf(language).includes(wanted));
}
