import type { DetectorName } from "@callgate/contract";

/** A part of a text that a detector knows. */
export interface Found {
  readonly kind: DetectorName;
  /** UTF-16 units; `end` is behind it. */
  readonly start: number;
  readonly end: number;
  /** What is hashed: the same however it is written, such as a card without its spaces. */
  readonly value: string;
}

/** Looks through a text in time linear in its length. */
export type Finder = (text: string) => readonly Found[];
