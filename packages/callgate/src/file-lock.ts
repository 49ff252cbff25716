import { open, rm, stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** Whoever holds a lock longer is gone: it covers one request, or the start of one process. */
const STALE_LOCK_MS = 60_000;
const LOCK_EVERY_MS = 50;

/** Does work that only one process of this user may do at a time. */
export async function withFileLock<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  await takeLock(path);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function takeLock(path: string): Promise<void> {
  for (;;) {
    try {
      await (await open(path, "wx", 0o600)).close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const age = await stat(path).then(({ mtimeMs }) => Date.now() - mtimeMs, () => 0);
    if (age > STALE_LOCK_MS) await rm(path, { force: true });
    else await setTimeout(LOCK_EVERY_MS);
  }
}
