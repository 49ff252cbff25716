import { basename } from "node:path";
import { receivedText } from "./received-text.ts";
import type { ServerTrace } from "./stdio-transport.ts";

/** How the error texts call a server. */
export interface ServerLabel {
  readonly namespace: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Values that must not show: those of the configured environment. */
  readonly secrets: readonly string[];
}

/** Two tellings of one failure: `brief` may reach a model, `full` is for the person who set the server up. */
export interface FailureText {
  readonly brief: string;
  readonly full: string;
}

/**
 * Says what went wrong with a server, what it said last, and what to do.
 *
 * @param what one clause, e.g. `did not answer within 30 s`
 */
export function describeFailure(label: ServerLabel, what: string, trace?: ServerTrace): FailureText {
  const program = basename(label.command);
  const brief = `The MCP server "${label.namespace}" (${program}) ${what}`;
  const parts = [`The MCP server "${label.namespace}" ${what}.`, `Command: ${hide([label.command, ...label.args].join(" "), label)}`];
  const garbage = trace?.garbage();
  if (garbage !== undefined && garbage.count > 0) {
    parts.push(`It wrote ${garbage.count} line(s) to stdout that are no JSON-RPC message, first: ${hide(receivedText(garbage.first ?? ""), label)}. A stdio server must log to stderr.`);
  }
  const malformed = trace?.malformed();
  if (malformed !== undefined && malformed.count > 0) parts.push(`${malformed.count} of its answers could not be read. The last: ${hide(malformed.last ?? "", label)}.`);
  const stderr = trace?.stderr(5) ?? [];
  if (stderr.length > 0) parts.push(`Its last words on stderr:\n${stderr.map((line) => `  ${hide(line, label)}`).join("\n")}`);
  parts.push(`To fix: run the command by hand and see that it starts and waits for input; check its arguments, environment and working directory in the configuration.`);
  return { brief, full: parts.join("\n") };
}

/** Replaces configured environment values by their absence. Short ones would eat ordinary words. */
function hide(text: string, label: ServerLabel): string {
  return label.secrets.filter((secret) => secret.length >= 6).reduce((hidden, secret) => hidden.replaceAll(secret, "[secret]"), text);
}
