import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { CallgateError } from "@callgate/contract";
import type { ProgramLanguage } from "@callgate/contract";
import { languageOf, languagesText, namesOf } from "@callgate/runtime/executor";
import { ownLanguages, registeredLanguages } from "../program-languages.ts";
import type { CommandContext } from "./command-context.ts";

/** What the language of a program is found with. */
type Languages = Pick<CommandContext, "sandboxConfig">;

const byExtension: Readonly<Record<string, ProgramLanguage>> = {
  ".ts": "typescript",
  ".mts": "typescript",
  ".js": "javascript",
  ".mjs": "javascript",
  ".py": "python",
  ".sh": "shell",
  ".bash": "shell",
  ".md": "typescript",
  ".txt": "typescript",
};

/** The language that is meant: one of Callgate's own, or of this folder's configuration. Errors: `CallgateError` USAGE. */
export async function languageNamed(name: string, context: Languages): Promise<ProgramLanguage> {
  const own = languageOf(name, ownLanguages);
  if (own !== undefined) return own;
  const languages = [...ownLanguages, ...(await registered(context)).map(({ language }) => language)];
  const found = languageOf(name, languages);
  if (found === undefined) throw new CallgateError("USAGE", `unknown language ${name}; there are ${languagesText(languages)}. Others are registered in sandbox.languages of the configuration`);
  return found;
}

/**
 * A program and its language: the one that is named, else by the file's name; from standard input it is TypeScript.
 *
 * Errors: `CallgateError` USAGE.
 */
export async function readProgramFile(file: string, named: string | undefined, context: Languages): Promise<{ readonly program: string; readonly language: ProgramLanguage }> {
  const language = named !== undefined ? await languageNamed(named, context) : file === "-" ? "typescript" : await languageOfFile(file, context);
  return { program: await readProgramText(file), language };
}

async function languageOfFile(file: string, context: Languages): Promise<ProgramLanguage> {
  const extension = extname(file).toLowerCase();
  const own = byExtension[extension];
  if (own !== undefined) return own;
  const others = await registered(context);
  const found = others.find((language) => `.${language.extension?.toLowerCase()}` === extension) ?? others.find(({ language }) => namesOf(language).includes(extension.slice(1)));
  if (found !== undefined) return found.language;
  const there = others.length === 0 ? "" : `, ${others.map(({ language, extension: ending }) => `${language} (.${ending})`).join(", ")}`;
  throw new CallgateError("USAGE", `Cannot run ${file}: programs are TypeScript or JavaScript (.ts, .js, or a text with a fenced program), Python (.py), shell (.sh)${there}. Name the language with -l, or register it in sandbox.languages of the configuration`);
}

async function registered({ sandboxConfig }: Languages): Promise<ReturnType<typeof registeredLanguages>> {
  return registeredLanguages((await sandboxConfig()).config);
}

/** The text of a file, or of standard input for `-`. Errors: `CallgateError` USAGE. */
export async function readProgramText(file: string): Promise<string> {
  if (file === "-") return await text(process.stdin);
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new CallgateError("USAGE", `Cannot read ${file}: ${cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason"}`, { cause });
  }
}
