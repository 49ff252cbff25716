import { randomUUID } from "node:crypto";
import type { AskServerQuestion, Gate, Principal, ServerAnswer, ServerQuestion } from "@callgate/contract";

/** Which ways a client has of asking the person in front of it. */
export interface ClientModes {
  readonly form: boolean;
  /** A page in a browser. */
  readonly url: boolean;
}

/** A question of a server behind the gate that waits for the client. */
export interface OpenQuestion {
  readonly id: string;
  readonly question: ServerQuestion;
}

export type HeldStep<Result> = { readonly kind: "done"; readonly result: Result } | { readonly kind: "asks"; readonly questions: readonly OpenQuestion[] };

/** The work of one request, which goes on while its client asks the person and comes back with what they said. */
export interface HeldWork<Result> {
  readonly id: string;
  /** As the gate was given it: the events of the work carry this object. */
  readonly principal: Principal;
  /** What comes first: its end, or questions. Rejects as the work does. `signal` gives it up, also after this has resolved where `keepsSignal`. */
  next(signal: AbortSignal, keepsSignal: boolean): Promise<HeldStep<Result>>;
  /** What is not open any more is left alone. */
  answer(questionId: string, answer: ServerAnswer): void;
}

export interface HoldOptions<Result> {
  readonly gate: Gate;
  readonly principal: Principal;
  readonly modes: ClientModes;
  /** A run that goes on by it; runs that it starts are found by the principal. */
  readonly runId?: string;
  start(signal: AbortSignal): Promise<Result>;
}

/** Passes questions of servers behind the gate on to the client whose request they belong to. */
export interface ClientAsker {
  /** For the sources. Rejects where the question belongs to no request, or not to one alone, and where its client cannot ask. */
  readonly ask: AskServerQuestion;
  hold<Result>(options: HoldOptions<Result>): HeldWork<Result>;
  /** Work that its client comes back to. Undefined: it is not known, or nobody came back in time. */
  find(id: string): HeldWork<unknown> | undefined;
}

/** How long a client may take to come back with an answer. Then the question counts as closed, and the work goes on; as long again its end is kept. */
const PATIENCE_MS = 15 * 60 * 1000;

/** @param patienceMs for tests */
export function createClientAsker(patienceMs = PATIENCE_MS): ClientAsker {
  const byRun = new Map<string, Holder>();
  const held = new Map<string, HeldWork<unknown>>();
  return {
    async ask(question, signal) {
      const [holder, ...others] = new Set(question.calls.map(({ runId }) => byRun.get(runId)));
      if (others.length > 0) throw new Error("several requests have calls of this server under way, and it does not say which it asks about");
      if (holder === undefined) throw new Error("the call belongs to no request of a client that could be asked");
      if (!holder.modes[question.kind]) throw new Error(`the client cannot ask the person: it has no ${question.kind === "form" ? "forms" : "way to show a page"}`);
      return await holder.put(question, signal);
    },
    hold(options) {
      const id = randomUUID();
      const { work, holder } = createHeldWork(id, { ...options, patienceMs, byRun, forget: () => void held.delete(id) });
      held.set(id, work);
      if (options.runId !== undefined) byRun.set(options.runId, holder);
      return work;
    },
    find: (id) => held.get(id),
  };
}

interface Holder {
  readonly modes: ClientModes;
  put(question: ServerQuestion, signal: AbortSignal): Promise<ServerAnswer>;
}

interface Holding<Result> extends HoldOptions<Result> {
  readonly patienceMs: number;
  readonly byRun: Map<string, Holder>;
  readonly forget: () => void;
}

function createHeldWork<Result>(id: string, options: Holding<Result>): { readonly work: HeldWork<Result>; readonly holder: Holder } {
  const { gate, principal, modes, byRun, patienceMs, forget } = options;
  const stop = new AbortController();
  const open = createOpenQuestions();
  let asks = Promise.withResolvers<void>();
  let patience: NodeJS.Timeout | undefined;
  const holder: Holder = {
    modes,
    put: (question, signal) => {
      const answered = open.put(question, signal);
      asks.resolve();
      return answered;
    },
  };
  const unsubscribe = gate.onEvent((event) => {
    if ("principal" in event && event.principal === principal) byRun.set(event.runId, holder);
  });
  const done = options.start(stop.signal).finally(() => {
    unsubscribe();
    for (const [runId, one] of byRun) if (one === holder) byRun.delete(runId);
  });
  // Where nobody comes back for it, its failure is on record and nowhere else.
  done.catch(() => undefined);

  /** The client has the questions now, or the end. */
  const left = (): void => {
    patience = setTimeout(() => {
      open.closeAll();
      patience = setTimeout(forget, PATIENCE_MS).unref();
    }, patienceMs).unref();
  };
  const work: HeldWork<Result> = {
    id,
    principal,
    async next(signal, keepsSignal) {
      clearTimeout(patience);
      const giveUp = (): void => stop.abort(signal.reason);
      if (signal.aborted) giveUp();
      signal.addEventListener("abort", giveUp, { once: true });
      asks = Promise.withResolvers<void>();
      if (open.list().length > 0) asks.resolve();
      const step = await Promise.race([done.then((result) => ({ kind: "done", result }) as const), asks.promise.then(() => ({ kind: "asks", questions: open.list() }) as const)])
        .catch((fault: unknown) => {
          // The request has its failure: nobody comes back for it.
          forget();
          throw fault;
        })
        .finally(() => {
          if (!keepsSignal) signal.removeEventListener("abort", giveUp);
        });
      if (step.kind === "done") forget();
      else left();
      return step;
    },
    answer: open.answer,
  };
  return { work, holder };
}

interface OpenQuestions {
  readonly put: (question: ServerQuestion, signal: AbortSignal) => Promise<ServerAnswer>;
  readonly answer: (id: string, answer: ServerAnswer) => void;
  readonly list: () => readonly OpenQuestion[];
  readonly closeAll: () => void;
}

function createOpenQuestions(): OpenQuestions {
  const open = new Map<string, { readonly question: ServerQuestion; readonly settle: (answer: ServerAnswer) => void }>();
  const answer = (id: string, said: ServerAnswer): void => {
    const asked = open.get(id);
    // At once: whoever looks next for what is open must not find it.
    open.delete(id);
    asked?.settle(said);
  };
  return {
    async put(question, signal) {
      signal.throwIfAborted();
      const id = randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<ServerAnswer>();
      const gone = (): void => reject(signal.reason as Error);
      signal.addEventListener("abort", gone, { once: true });
      open.set(id, { question, settle: resolve });
      try {
        return await promise;
      } finally {
        open.delete(id);
        signal.removeEventListener("abort", gone);
      }
    },
    answer,
    list: () => [...open].map(([id, { question }]) => ({ id, question })),
    closeAll: () => {
      for (const id of open.keys()) answer(id, { kind: "cancelled" });
    },
  };
}
