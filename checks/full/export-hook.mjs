// Loaded before an example (`node --import`): its `callgate` exports every run as a test when a gate closes.
import { registerHooks } from "node:module";

const exporting = new URL("./exporting-callgate.ts", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => (specifier === "callgate" && context.parentURL?.includes("/examples/") === true ? { url: exporting, format: "module-typescript", shortCircuit: true } : next(specifier, context)),
});
