import type { Digest } from "./json.ts";

/** A file or picture made by a tool or a program. Its bytes live in the blob store, never in text for the model. */
export interface Artifact {
  /** File name without folders. */
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly digest: Digest;
}

/** An artifact on its way into the blob store. */
export interface ArtifactInput {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}
