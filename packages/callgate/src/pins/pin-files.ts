import { readdirSync, readFileSync, realpathSync, renameSync, statSync, watch, writeFileSync } from "node:fs";
import type { FSWatcher } from "node:fs";
import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Digest, JsonObject, PinStore, SourcePins } from "@callgate/contract";
import { makePrivateFolder } from "@callgate/runtime/journal";
import { digestOf } from "@callgate/runtime/journal-parts";
import { z } from "zod";

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/).transform((text) => text as Digest);
const pinnedTool = z.strictObject({ name: z.string(), digest, definition: z.record(z.string(), z.json()).transform((value) => value as JsonObject), atMs: z.number() });
const pinFile = z.strictObject({
  version: z.literal(1),
  /** Of the configuration that names the source. */
  folder: z.string(),
  pins: z.strictObject({
    namespace: z.string(),
    purpose: z.string(),
    identity: digest,
    isTrusted: z.boolean(),
    tools: z.array(pinnedTool),
    held: z.array(pinnedTool),
    heldIdentity: digest.exactOptional(),
    gone: z.array(z.string()),
  }),
});

/** The pins of the sources of one configuration. */
export interface PinFiles {
  of(namespace: string): PinStore;
  /** In the order of their namespaces. Errors: CONFIG_INVALID. */
  list(): readonly SourcePins[];
}

/**
 * Pins kept in `<stateFolder>/pins`, one file for each source, readable by its owner only.
 *
 * @param folder where the configuration is: sources of one name in two folders have pins of their own
 */
export function createPinFiles(stateFolder: string, folder: string): PinFiles {
  const place = join(stateFolder, "pins");
  const scope = realFolder(folder);
  const fileOf = (namespace: string): string => join(place, `${digestOf([scope, namespace]).slice(7, 39)}.json`);
  return {
    of: (namespace) => createPinFile(fileOf(namespace), { place, scope }),
    list: () =>
      filesIn(place)
        .map((name) => readPinFile(join(place, name)))
        .filter((file) => file !== undefined && file.folder === scope)
        .flatMap((file) => (file === undefined ? [] : [file.pins]))
        .sort((a, b) => (a.namespace < b.namespace ? -1 : 1)),
  };
}

function createPinFile(path: string, { place, scope }: { readonly place: string; readonly scope: string }): PinStore {
  let kept: { readonly mark: string; readonly pins: SourcePins | undefined } | undefined;
  // Every call asks; the file changes when somebody approves something.
  const read = (): SourcePins | undefined => {
    const mark = markOf(path);
    if (kept?.mark !== mark) kept = { mark, pins: readPinFile(path)?.pins };
    return kept.pins;
  };
  return {
    read,
    update(change) {
      const pins = change(read());
      makePrivateFolder(place);
      const draft = `${path}.${process.pid}.tmp`;
      writeFileSync(draft, `${JSON.stringify({ version: 1, folder: scope, pins }, undefined, 2)}\n`, { mode: 0o600 });
      renameSync(draft, path);
    },
    watch(listener) {
      const watcher = watchFolder(place, path, listener);
      return () => watcher?.close();
    },
  };
}

/** A machine on which nothing can be watched hears of an approval when it is next started. */
function watchFolder(place: string, path: string, listener: () => void): FSWatcher | undefined {
  try {
    makePrivateFolder(place);
    const watcher = watch(place, { persistent: false }, (_event, name) => {
      if (name === null || path.endsWith(name)) listener();
    });
    return watcher.on("error", () => watcher.close());
  } catch {
    return undefined;
  }
}

/** Differs once a file was replaced. */
function markOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "none" : `${found.ino} ${found.mtimeNs} ${found.size}`;
}

function filesIn(place: string): readonly string[] {
  try {
    return readdirSync(place).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}

function readPinFile(path: string): z.infer<typeof pinFile> | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw damaged(path, cause);
  }
  try {
    return pinFile.parse(JSON.parse(text));
  } catch (cause) {
    throw damaged(path, cause);
  }
}

function damaged(path: string, cause: unknown): CallgateError {
  return new CallgateError("CONFIG_INVALID", `The pins in ${path} cannot be read, so that nobody knows what was approved of their source; restore the file, or remove it and look at what the source has now (callgate pins ls)`, { cause });
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
