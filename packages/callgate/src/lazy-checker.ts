import type { Checker } from "@callgate/contract";

/** A checker that is made when it is first asked. */
export function lazyChecker(language: Checker["language"], make: () => Promise<Checker>): Checker {
  let made: Promise<Checker> | undefined;
  const checker = (): Promise<Checker> => (made ??= make());
  return {
    language,
    check: async (request, signal) => await (await checker()).check(request, signal),
    warm: async (namespaces) => await (await checker()).warm(namespaces),
    async close() {
      await (await made)?.close();
    },
  };
}
