import { createHmac } from "node:crypto";
import type { AnswerStore, KeptAnswer, SharedAnswers } from "@callgate/contract";
import type { MasterKey } from "../secrets/master-key.ts";
import { createSealedBox } from "../secrets/sealed-box.ts";

/** Longer answers are cheaper to ask for again than to keep for everybody. */
const maxChars = 1024 * 1024;

/**
 * Encrypts answers under a key of the master key before they reach their store. What they are kept under is a keyed hash, so
 * that nobody who reads the store can try which arguments were asked about; an answer that was moved to another key does
 * not open.
 */
export function createSealedAnswers(store: AnswerStore, masterKey: Pick<MasterKey, "derive">): SharedAnswers {
  const box = createSealedBox(masterKey.derive("answers"));
  const nameKey = masterKey.derive("answer-names");
  const nameOf = (key: string): string => createHmac("sha256", nameKey).update(key).digest("base64url");
  return {
    async get(key) {
      try {
        const name = nameOf(key);
        const sealed = await store.get(name);
        const clear = sealed === undefined ? undefined : box.open(sealed, `answer:${name}`);
        return clear === undefined ? undefined : (JSON.parse(clear.toString("utf8")) as KeptAnswer);
      } catch {
        return undefined; // It is asked for again.
      }
    },
    async put(key, { wire, effectStatus }, ttlMs) {
      if (wire.json.length > maxChars) return;
      try {
        const name = nameOf(key);
        await store.put(name, box.seal(JSON.stringify({ wire, effectStatus }), `answer:${name}`), ttlMs);
      } catch {
        // It is not kept.
      }
    },
    close: () => store.close(),
  };
}
