/** Lets a long piece of work give way. */
export interface Slices {
  /** Whether others have waited long enough; cheap enough for each turn of a loop. */
  readonly isDue: boolean;
  /** Lets them go first. */
  giveWay(): Promise<void>;
}

/** How long nobody else gets a turn; what a person does not notice, and a heartbeat survives. */
const sliceMs = 10;

/** Work that is done in slices: `if (slices.isDue) await slices.giveWay()` inside its loops. */
export function createSlices(): Slices {
  let startedMs = performance.now();
  return {
    get isDue() {
      return performance.now() - startedMs > sliceMs;
    },
    async giveWay() {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      startedMs = performance.now();
    },
  };
}
