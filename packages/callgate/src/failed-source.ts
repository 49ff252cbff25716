import { CallgateError } from "@callgate/contract";
import type { Source } from "@callgate/contract";

/**
 * Stands for a source that cannot even be started as configured: it is `down` with its reason, and the others work.
 *
 * @param brief what of the reason a model may read
 */
export function failedSource(namespace: string, reason: string, brief = reason): Source {
  const fail = () => Promise.reject(new CallgateError("SOURCE_FAILED", reason));
  return { namespace, kind: "mcp", state: { kind: "down", reason, brief }, list: fail, call: fail, onChange: () => undefined, close: () => Promise.resolve() };
}
