import type { GateEvent } from "@callgate/contract";

/** The one stream of what a gate says. */
export interface EventHub {
  emit(event: GateEvent): void;
  /** Every event from this call on, in order, for one consumer. Ends when the hub closes; a consumer that stops early is forgotten. */
  events(): AsyncIterable<GateEvent>;
  /** The same, at once; returns the function that stops it. */
  onEvent(listener: (event: GateEvent) => void): () => void;
  close(): void;
}

export interface EventHubOptions {
  /** Events kept for one consumer that is behind; beyond that its oldest are dropped. Default 10,000. */
  readonly bufferSize?: number;
  /** Hears of a listener that threw; the other listeners and the run never do. */
  readonly onFault?: (fault: unknown) => void;
}

interface Consumer {
  push(event: GateEvent): void;
  end(): void;
}

export function createEventHub({ bufferSize = 10_000, onFault }: EventHubOptions = {}): EventHub {
  const listeners = new Set<(event: GateEvent) => void>();
  const consumers = new Set<Consumer>();
  let closed = false;

  function tell(listener: (event: GateEvent) => void, event: GateEvent): void {
    try {
      listener(event);
    } catch (fault) {
      onFault?.(fault);
    }
  }

  return {
    emit(event) {
      if (closed) return;
      for (const listener of listeners) tell(listener, event);
      for (const consumer of consumers) consumer.push(event);
    },
    events() {
      const { iterator, consumer } = createConsumer(bufferSize, () => consumers.delete(consumer));
      if (closed) consumer.end();
      else consumers.add(consumer);
      return { [Symbol.asyncIterator]: () => iterator };
    },
    onEvent(listener) {
      // A function of its own, so that the same listener twice is two.
      const entry = (event: GateEvent): void => {
        listener(event);
      };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    close() {
      closed = true;
      for (const consumer of consumers) consumer.end();
      consumers.clear();
      listeners.clear();
    },
  };
}

function createConsumer(bufferSize: number, forget: () => void): { readonly iterator: AsyncIterator<GateEvent>; readonly consumer: Consumer } {
  const buffer: GateEvent[] = [];
  const waiting: ((result: IteratorResult<GateEvent>) => void)[] = [];
  let ended = false;
  const done: IteratorResult<GateEvent> = { done: true, value: undefined };
  const consumer: Consumer = {
    push(event) {
      const resolve = waiting.shift();
      if (resolve !== undefined) return resolve({ done: false, value: event });
      if (buffer.length >= bufferSize) buffer.shift();
      buffer.push(event);
    },
    end() {
      ended = true;
      for (const resolve of waiting.splice(0)) resolve(done);
    },
  };
  const iterator: AsyncIterator<GateEvent> = {
    next() {
      const event = buffer.shift();
      if (event !== undefined) return Promise.resolve({ done: false, value: event });
      if (ended) return Promise.resolve(done);
      return new Promise((resolve) => waiting.push(resolve));
    },
    return() {
      consumer.end();
      forget();
      buffer.length = 0;
      return Promise.resolve(done);
    },
  };
  return { iterator, consumer };
}
