/** A whole number in the house's form: a number where that is exact, a BigInt where it is not. */
export function wholeNumber(value: bigint | string): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}
