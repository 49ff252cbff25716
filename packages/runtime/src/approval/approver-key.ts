import { createCipheriv, createDecipheriv, createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, scrypt, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { AnswerSigner, ApproverKey } from "@callgate/contract";

/** The key of a person who answers, as a file may hold it: the private part opens with their passphrase only. */
export interface SealedApproverKey {
  readonly form: "callgate-approver-1";
  /** Whose it is: the name on every answer that is signed with it. */
  readonly by: string;
  /** Ed25519, SubjectPublicKeyInfo, base64url. */
  readonly publicKey: string;
  /** scrypt: cost as a power of two, block size, parallelisation, salt in base64url. */
  readonly kdf: { readonly name: "scrypt"; readonly log2N: number; readonly r: number; readonly p: number; readonly salt: string };
  /** AES-256-GCM over the private key, PKCS 8; base64url. Name and public key are authenticated with it. */
  readonly sealed: { readonly iv: string; readonly tag: string; readonly text: string };
}

/** OWASP's first choice for scrypt (2^17, 8, 1): 128 MiB and some tenths of a second for each guess. */
const defaultCost = { log2N: 17, r: 8, p: 1 };
/** A file that asks for more is broken, or meant to fill the memory. */
const maxLog2N = 20;

/** Makes a key for a person. Cost: as much as one guess of the passphrase. */
export async function createApproverKey({ by, passphrase }: { readonly by: string; readonly passphrase: string }): Promise<SealedApproverKey> {
  const pair = generateKeyPairSync("ed25519");
  const publicKey = pair.publicKey.export({ type: "spki", format: "der" }).toString("base64url");
  const kdf = { name: "scrypt" as const, ...defaultCost, salt: randomBytes(16).toString("base64url") };
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", await derive(passphrase, kdf), iv);
  cipher.setAAD(Buffer.from(JSON.stringify([by, publicKey])));
  const text = Buffer.concat([cipher.update(pair.privateKey.export({ type: "pkcs8", format: "der" })), cipher.final()]);
  return { form: "callgate-approver-1", by, publicKey, kdf, sealed: { iv: iv.toString("base64url"), tag: cipher.getAuthTag().toString("base64url"), text: text.toString("base64url") } };
}

/** Opens a key. Undefined: not with this passphrase, or the file was changed. */
export async function unlockApproverKey({ by, publicKey, kdf, sealed }: SealedApproverKey, passphrase: string): Promise<AnswerSigner | undefined> {
  if (!(kdf.log2N <= maxLog2N)) return undefined;
  const bytes = (text: string): Buffer => Buffer.from(text, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", await derive(passphrase, kdf), bytes(sealed.iv));
  decipher.setAAD(Buffer.from(JSON.stringify([by, publicKey])));
  decipher.setAuthTag(bytes(sealed.tag));
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey({ key: Buffer.concat([decipher.update(bytes(sealed.text)), decipher.final()]), type: "pkcs8", format: "der" });
  } catch {
    return undefined;
  }
  const keyId = keyIdOf(publicKey);
  return { by, sign: (digest) => ({ keyId, value: sign(null, Buffer.from(digest), privateKey).toString("base64url") }) };
}

/** A key whose answers count. Undefined: that is no public key of Ed25519. */
export function readApproverKey({ by, publicKey }: Pick<SealedApproverKey, "by" | "publicKey">): ApproverKey | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(publicKey, "base64url"), type: "spki", format: "der" });
  } catch {
    return undefined;
  }
  if (key.asymmetricKeyType !== "ed25519") return undefined;
  const keyId = keyIdOf(publicKey);
  return { by, keyId, verify: (digest, signature) => signature.keyId === keyId && verify(null, Buffer.from(digest), key, Buffer.from(signature.value, "base64url")) };
}

function keyIdOf(publicKey: string): string {
  return `ed25519:${createHash("sha256").update(Buffer.from(publicKey, "base64url")).digest("hex").slice(0, 32)}`;
}

const scryptAsync = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

async function derive(passphrase: string, { log2N, r, p, salt }: SealedApproverKey["kdf"]): Promise<Buffer> {
  const N = 2 ** log2N;
  // As typed on one keyboard or another: the same letters are the same passphrase.
  return await scryptAsync(passphrase.normalize("NFKC"), Buffer.from(salt, "base64url"), 32, { N, r, p, maxmem: 256 * N * r });
}
