import type { Gate, Principal } from "@callgate/contract";
import { expect, test } from "vitest";
import { createClientAsker } from "./client-asker.ts";

const gate = { onEvent: () => () => undefined } as unknown as Gate;
const principal: Principal = { tenant: "acme", user: "ann", roles: [], claims: {} };

test.each([
  ["ended", async () => await Promise.resolve("done")],
  ["failed", async () => await Promise.reject(new Error("no"))],
])("work that %s is not kept once its request has been told", async (_how, start) => {
  const asker = createClientAsker();
  const work = asker.hold<string>({ gate, principal, modes: { form: true, url: false }, start });
  expect(asker.find(work.id)).toBe(work);
  await work.next(new AbortController().signal, false).catch(() => undefined);
  expect(asker.find(work.id)).toBeUndefined();
});
