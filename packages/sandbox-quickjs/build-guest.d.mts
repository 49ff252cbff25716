/** The whole text of src/guest-text.ts, as src/guest/ says it now. */
export function guestText(): Promise<string>;
export const guestTextPath: string;
