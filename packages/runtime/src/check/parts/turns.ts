import { CallgateError } from "@callgate/contract";

/** One piece of work at a time, in the order asked for. */
export interface Turns {
  /** Errors: `CallgateError` CLOSED once `end` was called; what the work throws. */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
  readonly isOver: boolean;
  /** No turn begins any more. */
  end(): void;
  /** Resolves when the turns that were asked for are over. */
  idle(): Promise<void>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let over = false;
  return {
    take(work) {
      const turn = last.then(() => {
        if (over) throw new CallgateError("CLOSED", "The checker was closed");
        return work();
      });
      last = turn.catch(() => undefined);
      return turn;
    },
    get isOver() {
      return over;
    },
    end() {
      over = true;
    },
    async idle() {
      await last;
    },
  };
}
