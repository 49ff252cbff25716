/**
 * Where the answer of a call came from that was rehearsed and not made: the tool's own `simulate`, one of its examples, its
 * output schema, or nowhere (a text that stands for whatever it may be).
 */
export type SimulatedBy = "tool" | "example" | "schema" | "opaque";
