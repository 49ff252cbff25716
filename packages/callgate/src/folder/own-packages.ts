import { registerHooks } from "node:module";
import type { ResolveFnOutput } from "node:module";
import { pathToFileURL } from "node:url";

/** What a tool file may import without an install of its own. */
const ownPackages = /^(?:callgate|zod)(?:\/|$)/;

/**
 * Lets files of a folder import `callgate` and `zod`: from their own install where there is one, else from ours. TypeScript
 * files of the folder are modules whatever the nearest package.json says (`npm init` writes `"type": "commonjs"`).
 *
 * Module resolution is one per process, so this is the process's state, not ours: calling it again for the same folder
 * adds a hook that answers the same.
 */
export function resolveOwnPackagesFor(folder: string): void {
  const prefix = pathToFileURL(`${folder}/`).href;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = ownPackages.test(specifier) && context.parentURL?.startsWith(prefix) === true ? resolveOwn() : nextResolve(specifier, context);
      const isOurs = resolved.url.startsWith(prefix) && !resolved.url.includes("/node_modules/");
      return isOurs && /\.ts(?:\?|$)/.test(resolved.url) ? { ...resolved, format: "module-typescript" } : resolved;

      function resolveOwn(): ResolveFnOutput {
        try {
          return nextResolve(specifier, context);
        } catch {
          return nextResolve(specifier, { ...context, parentURL: import.meta.url });
        }
      }
    },
  });
}
