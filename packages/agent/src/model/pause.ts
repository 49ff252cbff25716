import type { Clock } from "@callgate/contract";

/** Waits, at most until `signal` aborts. Leaves no timer and no listener. */
export async function pause(ms: number, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = clock.schedule(ms, over);
    function over(): void {
      timer.cancel();
      signal.removeEventListener("abort", over);
      resolve();
    }
    signal.addEventListener("abort", over, { once: true });
  });
}
