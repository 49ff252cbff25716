import type { Repair } from "@callgate/contract";
import type { Edit } from "./edited-text.ts";

/** A repair as an edit of whatever text is being looked at. */
export interface Fix {
  readonly kind: Repair["kind"];
  readonly message: string;
  readonly edits: readonly Edit[];
  readonly offset: number;
}
