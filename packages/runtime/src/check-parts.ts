// Door: what a checker of one language is made of, whatever the language.

export { superviseThread, timeFor } from "./check/parts/checker-thread.ts";
export type { CheckerThread, ThreadAnswer } from "./check/parts/checker-thread.ts";
export { boundTime, timedOutText } from "./check/parts/time-bound.ts";
export type { CheckTime, TimedOut } from "./check/parts/time-bound.ts";
export { advice, error, warning } from "./check/parts/finding.ts";
export type { Finding, Said } from "./check/parts/finding.ts";
export { createNamespaceMessages } from "./check/parts/namespace-messages.ts";
export type { NamespaceMessage } from "./check/parts/namespace-messages.ts";
export { didYouMean, nearest } from "./check/parts/nearest.ts";
export { reachOf } from "./check/parts/reach.ts";
export { threadEnvironment } from "./lib/thread-environment.ts";
export { createTurns } from "./check/parts/turns.ts";
export { rejectTooLarge, rejectWhole } from "./check/parts/whole-text.ts";
