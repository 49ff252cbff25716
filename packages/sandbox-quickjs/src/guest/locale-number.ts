import { SafeRangeError, charCodeAt, isFinite, slice } from "./intrinsics.ts";
import { checkLocale, optionOf, refuseUnknown } from "./locale-options.ts";

const symbols: Readonly<Record<string, string>> = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", CNY: "CN¥", KRW: "₩", BRL: "R$", CAD: "CA$", AUD: "A$", MXN: "MX$", NZD: "NZ$", ILS: "₪", VND: "₫", TWD: "NT$", HKD: "HK$", PHP: "₱" };
/** Currencies with another number of decimals than two. */
const decimals: Readonly<Record<string, number>> = { JPY: 0, KRW: 0, VND: 0, CLP: 0, ISK: 0, XAF: 0, XOF: 0, KWD: 3, BHD: 3, OMR: 3, JOD: 3, TND: 3 };

const known = ["style", "currency", "currencyDisplay", "minimumIntegerDigits", "minimumFractionDigits", "maximumFractionDigits", "useGrouping"] as const;

/** How a number is written, for en-US. */
export interface NumberFormat {
  format(value: number | bigint): string;
}

/** Reads `locales` and `options` as Intl.NumberFormat does; what is not supported is a RangeError that says so. */
export function numberFormat(locales: unknown, options: unknown): NumberFormat {
  checkLocale(locales);
  refuseUnknown("Number formatting", options, known);
  const style = optionOf(options, "style", ["decimal", "percent", "currency"]) ?? "decimal";
  const currency = style === "currency" ? currencyOf(options) : "";
  const display = optionOf(options, "currencyDisplay", ["symbol", "narrowSymbol", "code"]) ?? "symbol";
  const [low, high] = style === "currency" ? [decimals[currency] ?? 2, decimals[currency] ?? 2] : style === "percent" ? [0, 0] : [0, 3];
  const minimum = digits(options, "minimumFractionDigits");
  const maximum = digits(options, "maximumFractionDigits");
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) throw new SafeRangeError("maximumFractionDigits value is out of range.");
  const min = minimum ?? (maximum === undefined ? low : low < maximum ? low : maximum);
  const max = maximum ?? (min > high ? min : high);
  const integerDigits = digits(options, "minimumIntegerDigits") ?? 1;
  const useGrouping = grouping(options);
  const unit = style === "percent" ? { before: "", after: "%" } : { before: display === "code" ? `${currency}\u00a0` : symbolOf(currency), after: "" };
  return {
    format(value) {
      const negative = typeof value === "bigint" ? value < 0n : value < 0 || (value === 0 && 1 / value < 0);
      const text = typeof value === "bigint" ? group(`${negative ? -value : value}`, useGrouping) : magnitude(style === "percent" ? value * 100 : value, { min, max, integerDigits, useGrouping });
      return `${negative ? "-" : ""}${style === "decimal" ? text : unit.before + text + unit.after}`;
    },
  };
}

function currencyOf(options: unknown): string {
  const currency = (options as { currency?: unknown }).currency;
  if (typeof currency !== "string" || currency.length !== 3) throw new SafeRangeError("Number formatting with style \"currency\" needs a currency of three letters");
  return currency.toUpperCase();
}

function symbolOf(currency: string): string {
  return currency === "" ? "" : (symbols[currency] ?? `${currency}\u00a0`);
}

function digits(options: unknown, key: string): number | undefined {
  const value = (options as Record<string, unknown> | undefined)?.[key];
  if (value === undefined) return undefined;
  const count = +(value as number);
  if (!(count >= 0 && count <= 100) || count % 1 !== 0) throw new SafeRangeError(`${key} value is out of range.`);
  return count;
}

function grouping(options: unknown): boolean {
  const value = (options as { useGrouping?: unknown } | undefined)?.useGrouping;
  if (value === undefined || value === true || value === "auto" || value === "always" || value === "true") return true;
  if (value === false || value === "false") return false;
  throw new SafeRangeError("useGrouping takes true or false here");
}

interface Shape {
  readonly min: number;
  readonly max: number;
  readonly integerDigits: number;
  readonly useGrouping: boolean;
}

function magnitude(value: number, shape: Shape): string {
  if (value !== value) return "NaN";
  const size = value < 0 ? -value : value;
  if (!isFinite(size)) return "∞";
  const fixed = roundHalfAway(size, shape.max);
  const point = fixed.indexOf(".");
  let integer = point < 0 ? fixed : slice(fixed, 0, point);
  let fraction = point < 0 ? "" : slice(fixed, point + 1);
  while (fraction.length > shape.min && charCodeAt(fraction, fraction.length - 1) === 48) fraction = slice(fraction, 0, -1);
  while (fraction.length < shape.min) fraction += "0";
  while (integer.length < shape.integerDigits) integer = `0${integer}`;
  return group(integer, shape.useGrouping) + (fraction === "" ? "" : `.${fraction}`);
}

/** Rounds the decimal digits the language shows for the number, half away from zero, as formatting does. */
function roundHalfAway(size: number, max: number): string {
  const plain = plainDigits(size);
  const point = plain.indexOf(".");
  const integer = point < 0 ? plain : slice(plain, 0, point);
  const fraction = point < 0 ? "" : slice(plain, point + 1);
  if (fraction.length <= max) return fraction === "" ? integer : `${integer}.${fraction}`;
  const up = charCodeAt(fraction, max) >= 53;
  const kept = `${integer}${slice(fraction, 0, max)}`;
  let all = `${BigInt(kept) + (up ? 1n : 0n)}`;
  while (all.length < kept.length) all = `0${all}`;
  const cut = all.length - max;
  return max === 0 ? all : `${slice(all, 0, cut)}.${slice(all, cut)}`;
}

/** The number's own digits without an exponent. */
function plainDigits(size: number): string {
  const text = `${size}`;
  const e = text.indexOf("e");
  if (e < 0) return text;
  const exponent = +slice(text, e + 1);
  const mantissa = slice(text, 0, e);
  const point = mantissa.indexOf(".");
  const all = point < 0 ? mantissa : slice(mantissa, 0, point) + slice(mantissa, point + 1);
  const places = (point < 0 ? mantissa.length : point) + exponent;
  if (places <= 0) return `0.${"0".repeat(-places)}${all}`;
  return places >= all.length ? all + "0".repeat(places - all.length) : `${slice(all, 0, places)}.${slice(all, places)}`;
}

function group(integer: string, useGrouping: boolean): string {
  if (!useGrouping) return integer;
  let text = integer;
  for (let at = integer.length - 3; at > 0; at -= 3) text = `${slice(text, 0, at)},${slice(text, at)}`;
  return text;
}
