import type { KnownLanguage, ProgramLanguage } from "@callgate/contract";

/** What models, files and people call the languages that programs are written in; lower case, the usual name first. */
export const languageNames: Readonly<Record<KnownLanguage, readonly string[]>> = {
  typescript: ["typescript", "ts", "mts"],
  javascript: ["javascript", "js", "mjs"],
  node: ["node", "nodejs"],
  python: ["python", "py", "python3", "py3"],
  shell: ["shell", "bash", "sh"],
};

/** The language that a name in any case means, among those there are; undefined when it means none of them. */
export function languageOf(name: string, languages: readonly ProgramLanguage[]): ProgramLanguage | undefined {
  const wanted = name.toLowerCase();
  return languages.find((language) => language === wanted) ?? languages.find((language) => (languageNames as Readonly<Record<string, readonly string[]>>)[language]?.includes(wanted) === true);
}
