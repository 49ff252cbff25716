import { SafeRangeError, SafeTypeError, isArray, keys } from "./intrinsics.ts";

/**
 * Formatting here is that of en-US, and of no other locale: the engine has no locale data. A program that asks for
 * another one is told so, instead of getting the wrong text.
 */
export function checkLocale(locales: unknown): void {
  if (locales === undefined) return;
  const list: readonly unknown[] = isArray(locales) ? locales : [locales];
  if (list.length === 0) return;
  const first = list[0];
  if (typeof first !== "string") throw new SafeTypeError("A locale is a text such as \"en-US\"");
  const name = first.toLowerCase();
  if (name === "en-us" || name === "en" || name === "en-us-u-hc-h12") return;
  throw new SafeRangeError(`The sandbox formats for en-US only, not for "${first.slice(0, 40)}": leave the locale out, or build the text from the parts of the number or date yourself`);
}

/** An option that takes one of a few words. */
export function optionOf<Word extends string>(options: unknown, key: string, words: readonly Word[]): Word | undefined {
  const value = (options as Record<string, unknown> | undefined)?.[key];
  if (value === undefined) return undefined;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw new SafeRangeError(`The option ${key} takes ${words.map((candidate) => `"${candidate}"`).join(", ")} here, not ${JSON.stringify(value)}`);
  return word;
}

/** Refuses options that would change the text and are not supported. */
export function refuseUnknown(what: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return;
  if (typeof options !== "object" || options === null) throw new SafeTypeError(`${what} takes its options as an object`);
  for (const key of keys(options)) {
    if (known.includes(key) || (options as Record<string, unknown>)[key] === undefined) continue;
    throw new SafeRangeError(`${what} does not support the option "${key}" here; supported: ${known.join(", ")}`);
  }
}
