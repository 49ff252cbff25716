import type { NeededVariable } from "../clients/needed-variables.ts";
import { visible } from "./terminal.ts";
import type { Colors } from "./terminal.ts";

/** Says which variables a person has to set, and where each value is now. Empty where all are set. */
export function variableLines(variables: readonly NeededVariable[], colors: Colors): string {
  const missing = variables.filter(({ isSet }) => !isSet);
  if (missing.length === 0) return "";
  const lines = missing.map(({ name, why }) => `  ${colors.bold(name)}  ${colors.dim(visible(why))}\n`);
  return `What looked like a secret became a reference; look over what was written. To set in the environment that starts callgate (or write file:PATH in place of env:NAME):\n${lines.join("")}`;
}
