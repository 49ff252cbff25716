import { decodeValue, duplicateKey, ValueError } from "@callgate/contract";
import type { Digest } from "@callgate/contract";
import { digestOf, digestOfWire } from "../lib/digest.ts";
import type { CallScope, Ended, FrozenArguments } from "./call.ts";
import { ended } from "./ended.ts";
import { freezeArguments } from "./frozen-arguments.ts";
import { shownName } from "./resolve.ts";

export interface IssuedArguments {
  readonly kind: "issued";
  readonly args: FrozenArguments;
  readonly digest: Digest;
}

/**
 * Turns the bytes that crossed the wall into the one snapshot that everything after it uses. Size is judged before
 * anything is parsed; a key that is there twice is refused, so that nobody sees another value than the next one does. A
 * call without arguments has the empty object.
 */
export function readArguments(scope: CallScope): IssuedArguments | Ended {
  const { args: wire, limits, tool } = scope.request;
  const bytes = Buffer.byteLength(wire.json);
  if (bytes > limits.argumentBytes) {
    return ended({
      outcome: "limit_exceeded",
      code: "LIMIT_EXCEEDED",
      tool: shownName(tool),
      message: `The arguments are ${bytes} bytes, the bound is ${limits.argumentBytes} (argumentBytes). Pass less, or in several calls. Nothing was changed.`,
      details: { limit: "argumentBytes", limitValue: limits.argumentBytes, actual: bytes },
    });
  }
  try {
    const given = decodeValue(wire);
    const args = freezeArguments(given ?? {});
    const twice = duplicateKey(wire.json);
    if (twice !== undefined) throw new ValueError("VALUE_UNSUPPORTED", `The arguments name ${twice} twice, so nobody can tell which of the two is meant`, twice);
    // Untagged text says what it is: its value need not be read a second time.
    return { kind: "issued", args, digest: wire.tagged ? digestOfWire(wire) : digestOf(given) };
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return ended({
      outcome: "invalid_input",
      code: error.code,
      tool: shownName(tool),
      message: `${error.message}. Nothing was changed.`,
      path: error.path,
    });
  }
}

/** What stands for arguments that could not be read. */
export const unreadableDigest: Digest = digestOf("unreadable");
