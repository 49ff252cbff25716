// Door: what a driver of the journal for another database is made of. Its rows hold the same texts and bytes.

export { optionalNumber, textColumn } from "./journal/columns.ts";
export type { Row } from "./journal/columns.ts";
export { eraseWait, joinEntry } from "./journal/entry-codec.ts";
export { defaultMaxKeyAgeMs, holderOf, recordedEffect, settledEffect } from "./journal/effects.ts";
export type { EffectHolder } from "./journal/effects.ts";
export type { PreparedEntry } from "./journal/entry-rows.ts";
export { fencedError, givenUpError, notFoundError } from "./journal/fence.ts";
export { createHeldLeases, defaultLeaseMs } from "./journal/held-leases.ts";
export type { HeldLeases } from "./journal/held-leases.ts";
export { createHousekeeper } from "./journal/housekeeper.ts";
export { reasonOf } from "./journal/leases.ts";
export { blobPlace, openPayload, payloadPlace, sealPayload } from "./journal/payload.ts";
export type { Payload } from "./journal/payload.ts";
export { assertNames, assertPlain, assertSignalNames } from "./journal/plain-names.ts";
export { prepareEntries, prepareEntry, storePayload } from "./journal/prepare-entries.ts";
export { currentProcess, ownerLives } from "./journal/process-identity.ts";
export { damagedError } from "./journal/read-entries.ts";
export type { RunKey } from "./journal/run-keys.ts";
export { createRunOrder } from "./journal/run-order.ts";
export { errorPlace, finishOf, headOf, indexedNumber, interruptedFinish, programPlace, recordOf } from "./journal/run-record.ts";
export { isAnswered, joinSignal, signalName, signalPlace, splitSignal, waitsPlace } from "./journal/signal-codec.ts";
export type { SignalName } from "./journal/signal-codec.ts";
export { lostError, undoStanding } from "./journal/undo-claims.ts";
export { digestOf } from "./lib/digest.ts";
export type { MasterKey } from "./secrets/master-key.ts";
export { createSealedBox } from "./secrets/sealed-box.ts";
export type { SealedBox } from "./secrets/sealed-box.ts";
