import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from "node:crypto";

/** Encrypts under one 256-bit key. `context` is authenticated and not stored: a box opens only where it was made for. */
export interface SealedBox {
  seal(clear: string | Uint8Array, context: string): Uint8Array;
  /** Undefined when key, context or bytes are not the ones it was sealed with. */
  open(sealed: Uint8Array, context: string): Buffer | undefined;
}

const FORMAT = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const IVS_AT_ONCE = 16;

/**
 * AES-256-GCM, laid out as format byte, 12 byte nonce, cipher text, 16 byte tag.
 *
 * Nonces are random: one key seals the few thousand values of one run, far from the 2^32 bound of random nonces.
 */
export function createSealedBox(keyBytes: Uint8Array): SealedBox {
  const key = createSecretKey(keyBytes); // Half the cost of handing over bytes each time.
  let ivs = Buffer.alloc(0);

  /** Random bytes cost a third of sealing a small value when asked for one nonce at a time. */
  function nextIv(): Buffer {
    if (ivs.length === 0) ivs = randomBytes(IV_BYTES * IVS_AT_ONCE);
    const iv = ivs.subarray(0, IV_BYTES);
    ivs = ivs.subarray(IV_BYTES);
    return iv;
  }

  return {
    seal(clear, context) {
      const iv = nextIv();
      const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(context));
      const body = typeof clear === "string" ? cipher.update(clear, "utf8") : cipher.update(clear);
      return Buffer.concat([Buffer.of(FORMAT), iv, body, cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, context) {
      if (sealed[0] !== FORMAT || sealed.length < 1 + IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 1 + IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(1 + IV_BYTES, sealed.length - TAG_BYTES)), decipher.final()]);
      } catch {
        return undefined; // The tag does not match: another key, another place, or changed bytes.
      }
    },
  };
}
