/** What goes wrong in one simulation. Steps count from 0 over all processes, in the order in which they happen. */
export interface FaultPlan {
  /** At these steps the process that takes the step is killed. */
  readonly crashes: ReadonlySet<number>;
  /** At these steps it stands still for so long, in milliseconds of virtual time, and then goes on as if nothing were. */
  readonly pauses: ReadonlyMap<number, number>;
  /** At these steps somebody sets the wall clock of the machine on by so much, in milliseconds; nobody stands still for it. */
  readonly clockSets?: ReadonlyMap<number, number>;
}

/** A place between two things that count: before or after a journal write, before or after an effect. */
export interface StepRecord {
  readonly label: string;
  readonly fault: "none" | "crash" | "pause" | "clock";
}

/** Counts the steps of a simulation and says what happens at each. */
export interface FaultLine {
  next(label: string, neverStill?: boolean): { readonly kind: "go" } | { readonly kind: "crash" } | { readonly kind: "pause" | "clock"; readonly ms: number };
  readonly steps: readonly StepRecord[];
}

export const noFaults: FaultPlan = { crashes: new Set(), pauses: new Map() };

export function createFaultLine({ crashes, pauses, clockSets }: FaultPlan): FaultLine {
  const steps: StepRecord[] = [];
  return {
    steps,
    next(label, neverStill = false) {
      const index = steps.length;
      const pauseMs = neverStill ? undefined : pauses.get(index);
      const setOnMs = clockSets?.get(index);
      const fault = crashes.has(index) ? "crash" : pauseMs !== undefined ? "pause" : setOnMs === undefined ? "none" : "clock";
      steps.push({ label, fault });
      if (fault === "crash") return { kind: "crash" };
      if (pauseMs !== undefined) return { kind: "pause", ms: pauseMs };
      return setOnMs === undefined ? { kind: "go" } : { kind: "clock", ms: setOnMs };
    },
  };
}

/** Small, seeded, and good enough to choose where to fail (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One to three faults at random steps; a quarter of them are pauses that outlast a lease. With `setsClock` every other time the wall clock is set on by more than a lease as well. */
export function randomFaults(seed: number, stepCount: number, { setsClock = false }: { readonly setsClock?: boolean } = {}): FaultPlan {
  const random = seededRandom(seed);
  const crashes = new Set<number>();
  const pauses = new Map<number, number>();
  const count = 1 + Math.floor(random() * 3);
  for (let fault = 0; fault < count; fault += 1) {
    const step = Math.floor(random() * stepCount);
    if (random() < 0.25) pauses.set(step, 35_000 + Math.floor(random() * 60_000));
    else crashes.add(step);
  }
  if (!setsClock || random() < 0.5) return { crashes, pauses };
  return { crashes, pauses, clockSets: new Map([[Math.floor(random() * stepCount), 40_000 + Math.floor(random() * 600_000)]]) };
}
