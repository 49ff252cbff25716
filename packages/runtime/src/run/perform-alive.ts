import type { RunSignal } from "@callgate/contract";
import type { CallRequest, PerformedCall } from "../broker/call.ts";
import { isParked } from "../broker/is-ended.ts";
import type { ParkedCall } from "../broker/call-past.ts";
import type { RunScope } from "./run-scope.ts";
import { createWaitingRoom } from "./waiting-room.ts";

/** Carries one call to its end, waiting for whatever it waits for: a direct call has no program that could go on later. */
export async function performAlive(scope: RunScope, request: CallRequest): Promise<PerformedCall> {
  const { broker, clock, journal } = scope.seams;
  let answer = await broker.perform(request);
  while (isParked(answer)) {
    const said = await waitFor(scope, answer, { request, clock, journal });
    answer = await broker.perform({ ...request, past: { ...answer.past, ...(said === undefined || said.kind === "event" || said.kind === "answer-refused" ? {} : { said }) } });
  }
  return answer;
}

interface Around {
  readonly request: CallRequest;
  readonly clock: RunScope["seams"]["clock"];
  readonly journal: RunScope["seams"]["journal"];
}

function waitFor(scope: RunScope, { wait }: ParkedCall, { request, clock, journal }: Around): Promise<RunSignal | undefined> {
  return new Promise((resolve) => {
    const room = createWaitingRoom({ clock, taken: new Map(), readSignals: () => journal.readSignals(request.principal.tenant, request.runId, { clear: true }) });
    scope.signals.heard = () => room.look();
    const aborted = (): void => over(undefined);
    const over = (said: RunSignal | undefined): void => {
      request.signal.removeEventListener("abort", aborted);
      room.drop();
      resolve(said);
    };
    request.signal.addEventListener("abort", aborted, { once: true });
    if (request.signal.aborted) return over(undefined);
    room.add({ wait, isTimer: false, over });
  });
}
