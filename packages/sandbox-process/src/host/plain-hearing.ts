import { createPlainReader } from "../frames/plain-reader.ts";
import type { GuestFrame } from "../frames/guest-frame.ts";
import { mimeTypeOf } from "../output/mime-type.ts";
import type { ArtifactBounds } from "./artifact-bounds.ts";

export interface PlainHearing {
  readonly artifacts: ArtifactBounds;
  readonly file: (file: GuestFrame) => void;
  /** Something to be told among the program's errors. */
  readonly note: (text: Buffer) => void;
  readonly ended: (exitCode: number) => void;
  /** The command of its language is not there. */
  readonly missing: () => void;
  /** A block of a session has begun. */
  readonly begun?: () => void;
}

const omittedText = Buffer.from("Some files of out/ were left out: they are more than a run may bring back\n");
const spoiltText = Buffer.from("Some files of out/ were left out: they changed while they were read\n");

/** Hears one plain program out. Its files are told by name. */
export function createPlainHearing({ artifacts: { artifactMiB, artifacts }, file, note, ended, missing, begun }: PlainHearing): { push(chunk: Buffer): void } {
  const maxBytes = artifactMiB * 1024 * 1024;
  const files: { readonly name: string; readonly bytes: Buffer }[] = [];
  let isOmitting = false;
  let isSpoilt = false;
  let heldBytes = 0;
  return createPlainReader(maxBytes, {
    // What says this is behind no wall from the program, which may say it many times over.
    file(name, bytes) {
      if (files.length >= artifacts || heldBytes + bytes.length > maxBytes) isOmitting = true;
      else {
        heldBytes += bytes.length;
        files.push({ name, bytes: Buffer.from(bytes) });
      }
    },
    omitted: () => (isOmitting = true),
    spoilt() {
      isSpoilt = true;
      heldBytes -= files.pop()?.bytes.length ?? 0;
    },
    missing,
    begun: () => begun?.(),
    end(exitCode) {
      for (const { name, bytes } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) file({ kind: "artifact", name, mimeType: mimeTypeOf(name), bytes });
      if (isOmitting) note(omittedText);
      if (isSpoilt) note(spoiltText);
      ended(exitCode);
    },
  });
}
