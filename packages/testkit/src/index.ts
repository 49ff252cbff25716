// Door: what tests of several packages share.

export { virtualClock } from "./virtual-clock.ts";
export type { VirtualClock } from "./virtual-clock.ts";
export { testJournal } from "./journal/test-journal.ts";
export type { JournalStore } from "./journal/test-journal.ts";
export { ended, entriesOfEveryKind, issued, printed, recorded, sampleFinish, sampleRun } from "./journal/journal-samples.ts";
export { startJournalProcess } from "./journal/journal-process.ts";
export type { ChildOpening, JournalProcess } from "./journal/journal-process.ts";
