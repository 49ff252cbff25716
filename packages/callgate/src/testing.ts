// Door for tests of programs and workflows. Anything exported here is public.

export { replayRecording } from "./recording/replay-recording.ts";
export type { ReplayedRecording, ReplayRecordingOptions } from "./recording/replay-recording.ts";
export type { NewCall, Recording, RecordingEnd } from "@callgate/contract";
