import { emitted } from "../guest-protocol.ts";
import type { Emit } from "./calls.ts";
import { SafeTypeError, defineProperty, keys, uncurry } from "./intrinsics.ts";
import type { Web } from "./web.ts";

// oxlint-disable-next-line no-eval -- this is inside the guest, and the text is our own
const evaluateGlobally = eval;
const dateTime = uncurry(Date.prototype.getTime);
const numberValue = uncurry(Number.prototype.valueOf);
const bigIntValue = uncurry(BigInt.prototype.valueOf);
const [toUpperCase, toLowerCase] = [uncurry(String.prototype.toUpperCase), uncurry(String.prototype.toLowerCase)];

const names = ["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "structuredClone", "atob", "btoa", "Intl"] as const;

/** Puts the names of the library `web` in place; its code comes into the run when one of them is first used. */
export function installLazy(emit: Emit): void {
  let loaded: Web | undefined;
  const load = (): Web => {
    if (loaded !== undefined) return loaded;
    const boot = evaluateGlobally(emit(emitted.library, "web") as string) as (emit: Emit) => Web;
    loaded = boot(emit);
    return loaded;
  };

  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const settle = (value: unknown): void => {
      defineProperty(globalThis, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false } as PropertyDescriptor);
    };
    defineProperty(globalThis, name, {
      get() {
        const value = load().globals[name];
        settle(value);
        return value;
      },
      set: settle,
      configurable: true,
      enumerable: false,
    });
  }

  const replace = (prototype: object, methods: Readonly<Record<string, unknown>>): void => {
    for (const name of keys(methods)) defineProperty(prototype, name, { value: methods[name], writable: true, configurable: true, enumerable: false });
  };
  replace(Number.prototype, {
    toLocaleString(this: unknown, locales?: unknown, options?: unknown) {
      return load().numberText(numberValue(this) as number, locales, options);
    },
  });
  replace(BigInt.prototype, {
    toLocaleString(this: unknown, locales?: unknown, options?: unknown) {
      return load().numberText(bigIntValue(this) as bigint, locales, options);
    },
  });
  const dateMethod = (defaults: "date" | "time" | "both") =>
    function (this: unknown, locales?: unknown, options?: unknown): string {
      dateTime(this);
      return load().dateText(this as Date, locales, { options, defaults });
    };
  replace(Date.prototype, { toLocaleString: dateMethod("both"), toLocaleDateString: dateMethod("date"), toLocaleTimeString: dateMethod("time") });
  replace(String.prototype, {
    localeCompare(this: unknown, that: unknown, ...rest: unknown[]) {
      if (this === undefined || this === null) throw new SafeTypeError("localeCompare needs a text");
      return load().compareTexts(`${this as string}`, `${that as string}`, { locales: rest[0], options: rest[1] });
    },
    toLocaleUpperCase(this: unknown, locales?: unknown) {
      if (locales !== undefined) load().checkLocale(locales);
      return toUpperCase(this);
    },
    toLocaleLowerCase(this: unknown, locales?: unknown) {
      if (locales !== undefined) load().checkLocale(locales);
      return toLowerCase(this);
    },
  });
}
