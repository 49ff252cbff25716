import { ToolError } from "@callgate/contract";
import type { HttpOperation, HttpParameter } from "../http-operation.ts";
import { badArgument } from "./bad-argument.ts";
import { escapeReserved, escapeStrictly, expandedOf, pairsOf, plainValue } from "./styled-value.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** What goes out for a parameter: the argument, or the one value there can be. */
export function valueOf({ argument, constant }: HttpParameter, args: Arguments): unknown {
  return args[argument] ?? constant;
}

/**
 * The URL of a request. Its path begins with the server's, and each value stays in the segment it is for: what would lead
 * out of it is refused.
 *
 * @param server absolute; its path is the prefix
 *
 * Errors: `ToolError` INVALID_INPUT.
 */
export function requestUrl(operation: HttpOperation, server: URL, args: Arguments): URL {
  const prefix = server.pathname.replace(/\/+$/, "");
  const path = prefix + pathOf(operation, args);
  const query = [server.search.slice(1), ...operation.parameters.filter((parameter) => parameter.in === "query").flatMap((parameter) => queryOf(parameter, args))].filter((part) => part !== "");
  const url = new URL(server.origin);
  url.pathname = path;
  url.search = query.join("&");
  // A parser that reads anything of it as something else (dots, backslashes, a second authority) shows here.
  if (url.origin !== server.origin || url.pathname !== normalized(path)) throw new ToolError({ code: "INVALID_INPUT", message: `The arguments lead to another path than ${operation.path} of ${server.origin}`, notApplied: true });
  return url;
}

function pathOf(operation: HttpOperation, args: Arguments): string {
  const byName = new Map(operation.parameters.filter((parameter) => parameter.in === "path").map((parameter) => [parameter.name, parameter]));
  const segments = operation.path.split("/").map((segment) => {
    let first: HttpParameter | undefined;
    const expanded = segment.replaceAll(/\{([^{}]+)\}/g, (template, name: string) => {
      const parameter = byName.get(name);
      if (parameter === undefined) return escapeStrictly(template);
      first ??= parameter;
      return pathValue(parameter, args);
    });
    if (first !== undefined && /^(?:\.|%2e){1,2}$/i.test(expanded)) throw badArgument(first.argument, `"${first.argument}" would make the part "${segment}" of the path ${expanded}, which leads to another place; it was not sent`);
    return expanded;
  });
  return segments.join("/");
}

function pathValue(parameter: HttpParameter, args: Arguments): string {
  const { name, argument, style, explode, mediaType } = parameter;
  const value = valueOf(parameter, args);
  if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)) throw badArgument(argument, `"${argument}" is part of the path and cannot be empty`);
  if (mediaType !== undefined) return escapeStrictly(contentOf(value, mediaType));
  return expandedOf({ name, value, style, explode, escape: escapeStrictly });
}

function queryOf(parameter: HttpParameter, args: Arguments): readonly string[] {
  const { name, style, explode, allowReserved, mediaType } = parameter;
  const value = valueOf(parameter, args);
  if (value === undefined) return [];
  const escape = allowReserved ? escapeReserved : escapeStrictly;
  if (mediaType !== undefined) return [`${escapeStrictly(name)}=${escape(contentOf(value, mediaType))}`];
  return pairsOf({ name, value, style, explode, escape }).map(([key, text]) => `${key}=${text}`);
}

/** A parameter that is declared by a media type: JSON as JSON, anything else as its text. */
export function contentOf(value: unknown, mediaType: string): string {
  return /[/+]json\b/i.test(mediaType) ? JSON.stringify(value) : plainValue(value);
}

/** As the parser writes a path whose only characters to escape are those of the template. */
function normalized(path: string): string {
  return path.replaceAll(/[^\x21-\x7e]|["<>^`{}]/gu, (char) => encodeURIComponent(char));
}
