/** What a tool is given; every tool of the set takes plain JSON. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The tools of one class over its state, which they change in place. */
export type Methods = Readonly<Record<string, (args: Arguments) => unknown>>;

/** What the set drew at random, in the order in which it was drawn: a world that is to end in the recorded state draws the same. */
export interface Drawn {
  next(what: "message" | "booking" | "transaction" | "insurance" | "token" | "card"): string;
}

/** A mistake of the caller, told as the set tells it: as a value. */
export const mistake = (error: string): { readonly error: string } => ({ error });
