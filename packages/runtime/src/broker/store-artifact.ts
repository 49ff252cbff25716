import { ToolError } from "@callgate/contract";
import type { Artifact, ArtifactInput, Blobs } from "@callgate/contract";
import { replaceControls } from "../lib/replace-controls.ts";
import type { CallScope } from "./call.ts";

const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;[^\p{Cc}]{0,100})?$/u;

/** Puts a tool's file into the blob store of the caller's tenant. Its name loses folders and control characters. */
export async function storeArtifact(scope: CallScope, artifact: ArtifactInput): Promise<Artifact> {
  if (!(artifact.bytes instanceof Uint8Array)) throw new ToolError({ code: "TOOL_FAILED", message: "An artifact's bytes must be a Uint8Array" });
  // A copy: the tool keeps its buffer and may write to it while the store still reads.
  return await storeFile({ blobs: scope.seams.blobs, tenant: scope.request.principal.tenant }, { ...artifact, bytes: new Uint8Array(artifact.bytes) });
}

/** Puts a file of anybody into a tenant's blob store. */
export async function storeFile({ blobs, tenant }: { readonly blobs: Blobs; readonly tenant: string }, { bytes, ...artifact }: ArtifactInput): Promise<Artifact> {
  const digest = await blobs.put(tenant, bytes);
  return {
    name: fileName(String(artifact.name)),
    mimeType: MIME_TYPE.test(artifact.mimeType) ? artifact.mimeType : "application/octet-stream",
    sizeBytes: bytes.byteLength,
    digest,
  };
}

function fileName(name: string): string {
  const last = replaceControls(name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1), () => "");
  return last === "" || last === "." || last === ".." ? "file" : last.slice(0, 200).toWellFormed();
}
