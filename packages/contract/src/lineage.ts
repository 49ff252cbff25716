/** Where a part of an argument was seen before. */
export interface Origin {
  readonly kind: "result" | "handle" | "program" | "placeholder";
  /** Of the call whose answer it was in, or whose placeholder; absent for the program. */
  readonly seq?: number;
  /** The tool of that call; `results.read` for a handle. */
  readonly tool?: string;
  /** JSON Pointer into that answer. */
  readonly path?: string;
  /**
   * - `same`: the value itself, a number also as text
   * - `part`: the argument is a part of it
   * - `holds`: the argument has it in it
   * - `decoded`: one of these once the argument is decoded from base64 or a URL
   */
  readonly how: "same" | "part" | "holds" | "decoded";
}

/** One value among the arguments of a call. */
export interface ArgumentOrigins {
  /** JSON Pointer into the arguments. */
  readonly path: string;
  /** Nearest first, at most 8. Empty: computed by the program, or from what was too common or too long to look at. */
  readonly origins: readonly Origin[];
}

/** Which earlier answers the arguments of a call contain. */
export interface CallLineage {
  readonly seq: number;
  readonly callId: string;
  readonly tool: string;
  readonly args: readonly ArgumentOrigins[];
}

/**
 * Which answers went where in one run, found by content. It explains and proves nothing: a value may be equal by chance,
 * and what a program computed from an answer is not recognised. Labels are what decides (`TaintMark`).
 */
export interface RunLineage {
  readonly calls: readonly CallLineage[];
  /** What the run returned, likewise. Absent: nothing. */
  readonly result?: readonly ArgumentOrigins[];
  /** Answers or arguments were so large that not all of them was looked at. */
  readonly isPartial: boolean;
  /** Calls whose values are not kept any more. */
  readonly erased: number;
}
