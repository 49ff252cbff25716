import { createPlainReader } from "../frames/plain-reader.ts";
import type { GuestFrame } from "../frames/guest-frame.ts";
import { mimeTypeOf } from "../output/mime-type.ts";
import type { ArtifactBounds } from "./guest-hearing.ts";

export interface PlainHearing {
  readonly artifacts: ArtifactBounds;
  readonly file: (file: GuestFrame) => void;
  /** Something to be told among the program's errors. */
  readonly note: (text: Buffer) => void;
  readonly ended: (exitCode: number) => void;
  /** The command of its language is not there. */
  readonly missing: () => void;
}

const omittedText = Buffer.from("Some files of out/ were left out: they are more than a run may bring back\n");

/** Hears one plain program out. Files come in the order a file system keeps them in; they are told by name. */
export function createPlainHearing({ artifacts: { artifactMiB, artifacts }, file, note, ended, missing }: PlainHearing): { push(chunk: Buffer): void } {
  const files: { readonly name: string; readonly bytes: Buffer }[] = [];
  let isOmitting = false;
  return createPlainReader(artifactMiB * 1024 * 1024, {
    file: (name, bytes) => (files.length < artifacts ? files.push({ name, bytes }) : (isOmitting = true)),
    omitted: () => (isOmitting = true),
    missing,
    end(exitCode) {
      for (const { name, bytes } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) file({ kind: "artifact", name, mimeType: mimeTypeOf(name), bytes });
      if (isOmitting) note(omittedText);
      ended(exitCode);
    },
  });
}
