import { ToolError } from "@callgate/contract";

/** Arguments that no request can be made of: nothing was sent. */
export function badArgument(argument: string, message: string): ToolError {
  return new ToolError({ code: "INVALID_INPUT", message, notApplied: true, details: { argument } });
}
