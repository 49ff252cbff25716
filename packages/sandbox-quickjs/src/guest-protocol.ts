// What guest and worker say to each other inside one thread: numbers, so that a call costs no string.

/** First argument of the guest's only host function, and what follows it. */
export const emitted = {
  /** tool, tagged (0 or 1), json, and the place (line, column) where that was asked for → 1 accepted, 0 the run has settled, 2 over the limit of argument bytes */
  tool: 0,
  /** name, tagged, json, place → 1, 0 or 2 */
  builtin: 1,
  /** delayMs → 1 or 0 */
  timer: 2,
  /** level, text as JSON */
  console: 3,
  /** text as JSON */
  text: 4,
  /** message as JSON, fraction or NaN */
  progress: 5,
  /** tagged, json: the value of the run */
  result: 6,
  /** GuestError as JSON: the run failed */
  error: 7,
  /** The final value is over the limit. */
  resultTooLarge: 8,
  /** seq of a timer that was cleared */
  timerCleared: 9,
  /** name of a library → its source */
  library: 10,
  /** { input, base?, key?, value? } as JSON → the parts of the URL as JSON, or null when it is none */
  url: 11,
} as const;

/** The functions the guest hands to the worker, by their place in the array `boot` returns. */
export const entries = { defineModules: 0, start: 1, deliver: 2, settleValue: 3, settleError: 4, tellRejection: 5 } as const;

/** Name of the executed text in stacks. */
export const programFile = "program.js";
/** Name of the prelude in stacks. */
export const preludeFile = "callgate";
