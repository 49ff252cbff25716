import type { KnownLanguage } from "@callgate/contract";

/** What models, files and people call the languages that programs are written in; lower case, the usual name first. */
export const languageNames: Readonly<Record<KnownLanguage, readonly string[]>> = {
  typescript: ["typescript", "ts", "mts"],
  javascript: ["javascript", "js", "mjs", "node"],
  python: ["python", "py", "python3", "py3"],
  shell: ["shell", "bash", "sh"],
};
