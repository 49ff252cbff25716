import type { ProgramLanguage } from "@callgate/contract";
import { FrameError } from "../frames/frame-splitter.ts";
import { languageName } from "../language/command-language.ts";
import type { LaunchBounds, LaunchSpec, Mount } from "../launcher/launcher.ts";

/** What a client asks a server to start: a `LaunchSpec` without what is only on the client's host. */
export interface GuestOrder {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly bounds: LaunchBounds;
  readonly mounts: readonly Mount[];
  /** Name of a program of the server's host that the command begins with. */
  readonly program?: string;
  readonly language?: ProgramLanguage;
}

export function orderOf({ command, environment, bounds, mounts, program, language }: LaunchSpec): GuestOrder {
  return { command, environment, bounds, mounts, ...(program === undefined ? {} : { program: program.name }), ...(language === undefined ? {} : { language }) };
}

type Fields = Readonly<Record<string, unknown>>;

const modes: readonly Mount["mode"][] = ["ro", "rw", "overlay"];

/** Reads an order that anyone may have written. Throws `FrameError`. */
export function parseGuestOrder(value: unknown): GuestOrder {
  const order = fieldsOf(value, "launch");
  const { program, language } = order;
  if (language !== undefined && !(typeof language === "string" && languageName.test(language))) throw new FrameError('an order has no good "language"');
  if (program !== undefined && typeof program !== "string") throw new FrameError('an order has no good "program"');
  return {
    command: texts(order["command"], "command"),
    environment: Object.fromEntries(Object.entries(fieldsOf(order["environment"], "environment")).map(([name, text]) => [plain(name), plain(text)])),
    bounds: parseBounds(fieldsOf(order["bounds"], "bounds")),
    mounts: list(order["mounts"], "mounts").map(parseMount),
    ...(program === undefined ? {} : { program }),
    ...(language === undefined ? {} : { language }),
  };
}

function parseBounds(bounds: Fields): LaunchBounds {
  const reserved = bounds["reservedMiB"] === undefined || bounds["reservedMiB"] === 0 ? {} : { reservedMiB: whole(bounds, "reservedMiB") };
  return { memoryMiB: whole(bounds, "memoryMiB"), processes: whole(bounds, "processes"), workspaceMiB: whole(bounds, "workspaceMiB"), workspaceFiles: whole(bounds, "workspaceFiles"), openFiles: whole(bounds, "openFiles"), ...reserved };
}

function parseMount(value: unknown): Mount {
  const { host, guest, mode } = fieldsOf(value, "mounts");
  const known = modes.find((name) => name === mode);
  if (known === undefined) throw new FrameError("a mount has no good mode");
  return { host: plain(host), guest: plain(guest), mode: known };
}

function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new FrameError(`an order has no good "${name}"`);
  return value as Fields;
}

function list(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length > 1_000) throw new FrameError(`an order has no good "${name}"`);
  return value;
}

function texts(value: unknown, name: string): readonly string[] {
  const all = list(value, name).map(plain);
  if (all.length === 0) throw new FrameError(`an order has no good "${name}"`);
  return all;
}

/** Text for a command line or an environment: a NUL would end it early. */
function plain(value: unknown): string {
  if (typeof value !== "string" || value.includes("\0")) throw new FrameError("an order has a text that is none");
  return value;
}

function whole(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) throw new FrameError(`an order has no good "${name}"`);
  return value;
}
