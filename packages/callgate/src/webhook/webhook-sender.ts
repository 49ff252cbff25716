import { randomUUID } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import { ExponentialBackoff, handleAll, retry } from "cockatiel";
import { Webhook } from "standardwebhooks";

/** Posts to one address what happened, signed so that the receiver can tell that it comes from here. */
export interface WebhookSender {
  /** Resolves once it was taken. Rejects when it was not, after several tries; the message names no address. */
  send(type: string, data: unknown): Promise<void>;
}

export interface WebhookSenderOptions {
  /** Over HTTPS, or to this machine. */
  readonly url: string;
  /** At least 24 bytes, as the receiver knows it: text, or `whsec_` and base64. */
  readonly secret: string;
  /** Tries in all. Default 5: over some 15 seconds. */
  readonly attempts?: number;
  /** Of one try. Default 10,000. */
  readonly timeoutMs?: number;
}

const minSecretBytes = 24;
/** Between two tries. */
const maxDelayMs = 30_000;

/**
 * A sender in the form of Standard Webhooks (headers `webhook-id`, `webhook-timestamp`, `webhook-signature`). A message keeps
 * its id over all tries, so that a receiver can tell a second delivery of it.
 *
 * Errors: `CallgateError` CONFIG_INVALID for an address or secret that would not be safe.
 */
export function createWebhookSender({ url, secret, attempts = 5, timeoutMs = 10_000 }: WebhookSenderOptions): WebhookSender {
  const address = webhookAddress(url);
  const webhook = new Webhook(webhookKey(secret), { format: "raw" });
  const tries = retry(handleAll, { maxAttempts: attempts - 1, backoff: new ExponentialBackoff({ initialDelay: 500, maxDelay: maxDelayMs }) });

  async function post(id: string, body: string): Promise<void> {
    const at = new Date();
    const headers = { "content-type": "application/json", "webhook-id": id, "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": webhook.sign(id, at, body) };
    // An address that leads elsewhere would get what was signed for this one.
    const response = await fetch(address, { method: "POST", headers, body, redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`it answered ${response.status}`);
  }

  return {
    async send(type, data) {
      const id = `msg_${randomUUID()}`;
      const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
      try {
        await tries.execute(() => post(id, body));
      } catch (fault) {
        throw new Error(`The webhook took no ${type} message in ${attempts} tries: ${reasonOf(fault)}`, { cause: fault });
      }
    },
  };
}

/** `fetch` says why in the cause, and where in neither. */
function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return "it failed";
  if (fault.name === "TimeoutError") return "it did not answer in time";
  return fault.cause instanceof Error && "code" in fault.cause ? String(fault.cause.code) : fault.message;
}

/** Errors: CONFIG_INVALID for an address that others could read on the way to. */
export function webhookAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isHere = address !== undefined && ["127.0.0.1", "[::1]", "localhost"].includes(address.hostname);
  if (address?.protocol === "https:" || (address?.protocol === "http:" && isHere)) return address;
  throw new CallgateError("CONFIG_INVALID", "The address of a webhook must be a URL with https, or with http on this machine");
}

/** The bytes of a secret as Standard Webhooks write it, or as text. Errors: CONFIG_INVALID for one that could be guessed. */
export function webhookKey(secret: string): Buffer {
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret, "utf8");
  if (key.length >= minSecretBytes) return key;
  throw new CallgateError("CONFIG_INVALID", `The secret of a webhook must be at least ${minSecretBytes} bytes, it is ${key.length}; make one with openssl rand -hex 32`);
}
