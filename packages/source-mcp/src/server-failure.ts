import { receivedText } from "./received-text.ts";
import type { ServerTrace } from "./server-trace.ts";

/** How the error texts call a server. */
export interface ServerLabel {
  readonly namespace: string;
  /** What a model may be told of where it is: the name of the program, or the host. */
  readonly brief: string;
  /** Where it is, for people: `Command: npx …`, `URL: https://…`. */
  readonly place: string;
  /** What a person does about a server that does not work. */
  readonly fix: string;
  /** Values that must not show: those of the configured environment or headers. */
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
  const brief = hide(`The MCP server "${label.namespace}" (${label.brief}) ${what}`, label);
  const parts = [hide(`The MCP server "${label.namespace}" ${what}.`, label), hide(label.place, label)];
  const garbage = trace?.garbage();
  if (garbage !== undefined && garbage.count > 0) {
    parts.push(`It wrote ${garbage.count} line(s) to stdout that are no JSON-RPC message, first: ${hide(receivedText(garbage.first ?? ""), label)}. A stdio server must log to stderr.`);
  }
  const malformed = trace?.malformed();
  if (malformed !== undefined && malformed.count > 0) parts.push(`${malformed.count} of its answers could not be read. The last: ${hide(malformed.last ?? "", label)}.`);
  const stderr = lastWords(trace?.stderr(30) ?? []);
  if (stderr.length > 0) parts.push(`Its last words on stderr:\n${stderr.map((line) => `  ${hide(line, label)}`).join("\n")}`);
  parts.push(`To fix: ${label.fix}`);
  return { brief, full: parts.join("\n") };
}

/** What npm says of a package that it cannot start stands before its advice; of anything else the end says most. */
function lastWords(lines: readonly string[]): readonly string[] {
  const ofNpm = lines.filter((line) => /^npm (?:error|ERR!) +(?!\d+\s*$|A complete log)\S/.test(line));
  return ofNpm.length > 0 ? ofNpm.slice(0, 5) : lines.slice(-5);
}

/** Replaces configured values by their absence. Short ones would eat ordinary words. */
export function hide(text: string, { secrets }: Pick<ServerLabel, "secrets">): string {
  return secrets.filter((secret) => secret.length >= 6).reduce((hidden, secret) => hidden.replaceAll(secret, "[secret]"), text);
}
