import { encodeValue } from "@callgate/contract";
import type { CallError, GuestError } from "@callgate/contract";

/** The error a program catches: a ToolError with code, tool, retryable and details, in which `path` names the place at fault. */
export function guestErrorOf({ code, message, tool, retryable, path, details }: CallError): GuestError {
  const more = path === undefined ? details : { ...details, path };
  return { name: "ToolError", code, message, tool, retryable, ...(more === undefined ? {} : { details: encodeValue(more) }) };
}
