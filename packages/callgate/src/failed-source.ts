import { CallgateError } from "@callgate/contract";
import type { Source } from "@callgate/contract";

export interface FailedSource {
  readonly namespace: string;
  /** As the source would have had. */
  readonly kind: string;
  /** For people: names the place in the configuration and the fix. */
  readonly reason: string;
  /** What of the reason a model may read. Default: all of it. */
  readonly brief?: string;
}

/** Stands for a source that cannot even be started as configured: it is `down` with its reason, and the others work. */
export function failedSource({ namespace, kind, reason, brief = reason }: FailedSource): Source {
  const fail = () => Promise.reject(new CallgateError("SOURCE_FAILED", reason, { details: { namespace, brief } }));
  return { namespace, kind, state: { kind: "down", reason, brief }, list: fail, call: fail, onChange: () => undefined, close: () => Promise.resolve() };
}
