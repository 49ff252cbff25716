import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** What a tool file may import without an install of its own. */
const ownPackages = /^(?:callgate|zod)(?:\/|$)/;

/**
 * Lets files of a folder import `callgate` and `zod`: from their own install where there is one, else from ours.
 *
 * Module resolution is one per process, so this is the process's state, not ours: calling it again for the same folder
 * adds a hook that answers the same.
 */
export function resolveOwnPackagesFor(folder: string): void {
  const prefix = pathToFileURL(`${folder}/`).href;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!ownPackages.test(specifier) || context.parentURL?.startsWith(prefix) !== true) return nextResolve(specifier, context);
      try {
        return nextResolve(specifier, context);
      } catch {
        return nextResolve(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}
