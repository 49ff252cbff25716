import { compareTexts } from "./collate.ts";
import type { Emit } from "./calls.ts";
import { SafeDate, SafeRangeError } from "./intrinsics.ts";
import { dateFormat } from "./locale-date.ts";
import { numberFormat } from "./locale-number.ts";
import { checkLocale } from "./locale-options.ts";
import { structuredClone } from "./structured-clone.ts";
import { TextDecoder, TextEncoder, atob, btoa } from "./text-coding.ts";
import { createUrl } from "./url.ts";

/** The parts of the guest that most programs never touch. Loaded into a run when it first does. */
export interface Web {
  readonly globals: Readonly<Record<string, unknown>>;
  numberText(value: number | bigint, locales: unknown, options: unknown): string;
  dateText(value: Date, locales: unknown, request: { readonly options: unknown; readonly defaults: "date" | "time" | "both" }): string;
  checkLocale(locales: unknown): void;
  compareTexts(a: string, b: string, request: { readonly locales: unknown; readonly options: unknown }): number;
}

/** Parts of Intl that are not there say so when they are used. */
function absent(name: string): unknown {
  return class {
    constructor() {
      throw new SafeRangeError(`Intl.${name} is not in the sandbox: write the few words it would give yourself, or call a tool`);
    }
  };
}

export function web(emit: Emit): Web {
  class NumberFormat {
    readonly format: (value: number | bigint) => string;
    constructor(locales?: unknown, options?: unknown) {
      this.format = numberFormat(locales, options).format;
    }
    resolvedOptions(): object {
      return { locale: "en-US", numberingSystem: "latn" };
    }
  }
  class DateTimeFormat {
    readonly format: (value?: Date | number) => string;
    constructor(locales?: unknown, options?: unknown) {
      const { format } = dateFormat(locales, options, "date");
      this.format = (value = SafeDate.now()) => format(typeof value === "number" ? new SafeDate(value) : value);
    }
    resolvedOptions(): object {
      return { locale: "en-US", calendar: "gregory", numberingSystem: "latn", timeZone: "UTC" };
    }
  }
  class Collator {
    readonly compare: (a: string, b: string) => number;
    constructor(locales?: unknown, options?: unknown) {
      this.compare = (a, b) => compareTexts(`${a}`, `${b}`, { locales, options });
    }
  }
  const Intl: Record<string, unknown> = { NumberFormat, DateTimeFormat, Collator };
  for (const name of ["PluralRules", "RelativeTimeFormat", "ListFormat", "Segmenter", "DisplayNames", "DurationFormat", "Locale"]) Intl[name] = absent(name);
  const { URL, URLSearchParams } = createUrl(emit);
  return {
    globals: { URL, URLSearchParams, TextEncoder, TextDecoder, structuredClone, atob, btoa, Intl },
    numberText: (value, locales, options) => numberFormat(locales, options).format(value),
    dateText: (value, locales, { options, defaults }) => dateFormat(locales, options, defaults).format(value),
    checkLocale,
    compareTexts,
  };
}
