/** A text that ends like a sentence. Texts of others may do so themselves. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
