/** A begun run out of so many looks whether the limits are exceeded; so does the first. */
const BEGINS_PER_LOOK = 200;

/** Looks after the limits at the first run begun and then every so many. Nobody waits for it. */
export function createHousekeeper(look: () => Promise<unknown>): { runBegan(): void; idle(): Promise<unknown> } {
  let begins = 0;
  let looking: Promise<unknown> = Promise.resolve();
  return {
    runBegan() {
      // If it fails, the next look or the next write tells.
      if (begins++ % BEGINS_PER_LOOK === 0) looking = looking.then(look).catch(() => undefined);
    },
    idle: () => looking,
  };
}
