// Door: what tests of several packages share.

export { virtualClock } from "./virtual-clock.ts";
export type { VirtualClock } from "./virtual-clock.ts";
export { testJournal } from "./journal/test-journal.ts";
export type { JournalStore } from "./journal/test-journal.ts";
