import { createFetch, createHttpClient, HttpFailed } from "@callgate/http-client";

/** How long a model thinks is bounded by the agent (`limits.modelMs`, `stallMs`), which tells it in its own words. */
const unbounded = 2 ** 31 - 1;

/**
 * What a provider's requests go through: only the address of the configuration may be on this machine or in a private network, and
 * no redirect takes the key elsewhere. Answers are at most 32 MiB.
 *
 * @param baseURL as the configuration has it. Default: the provider's own, which is public
 */
export function modelFetch(baseURL: string | undefined): typeof fetch {
  const send = createFetch(createHttpClient({ ...(baseURL === undefined ? {} : { namedOrigins: [baseURL] }), bounds: { firstByteMs: unbounded, idleMs: unbounded, totalMs: unbounded } }));
  return async (input, init) => {
    try {
      return await send(input, init);
    } catch (fault) {
      // What is refused is refused again; the loop asks a model anew only where that can help.
      throw fault instanceof HttpFailed ? Object.assign(fault, { isRetryable: fault.failure.isTransient }) : fault;
    }
  };
}
