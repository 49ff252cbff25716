import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";

/** A connection that comes back by itself. What is asked for while it is away fails at once. */
export interface RedisConnection {
  readonly client: ReturnType<typeof clientOf>;
  readonly isReady: boolean;
  /** Gives up on an answer that does not come: a server that stands still is as good as none. */
  inTime<Answer>(asked: Promise<Answer>): Promise<Answer>;
  /** Idempotent. */
  close(): Promise<void>;
}

const answerTimeoutMs = 2_000;
const reconnectMs = 500;

function clientOf(url: string) {
  return createClient({ url, disableOfflineQueue: true, socket: { connectTimeout: answerTimeoutMs, reconnectStrategy: reconnectMs } });
}

/**
 * Resolves once Redis answers, or could not be reached: what needs it fails until it can.
 *
 * @param url `redis://` or `rediss://`, with user and password where there are any; never shown
 */
export async function connectRedis(url: string): Promise<RedisConnection> {
  const client = clientOf(url);
  const failed = new Promise<void>((resolve) => void client.on("error", () => resolve())); // Whoever asks for something is told; the client reconnects.
  const connected = client.connect().then(() => undefined, () => undefined);
  await Promise.race([connected, failed]);

  async function inTime<Answer>(asked: Promise<Answer>): Promise<Answer> {
    const waiting = new AbortController();
    const late = sleep(answerTimeoutMs, undefined, { signal: waiting.signal, ref: false }).then(
      () => Promise.reject(new Error(`Redis did not answer within ${answerTimeoutMs} ms`)),
      () => asked,
    );
    try {
      return await Promise.race([asked, late]);
    } finally {
      waiting.abort();
      asked.catch(() => undefined); // It may still fail; nobody waits for it.
    }
  }

  return {
    client,
    inTime,
    get isReady() {
      return client.isReady;
    },
    close() {
      // Nothing is written that must arrive, and waiting for a server that is away would keep the process.
      if (client.isOpen) client.destroy();
      return Promise.resolve();
    },
  };
}
