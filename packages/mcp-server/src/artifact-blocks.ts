import type { Artifact, Gate, Handle, Principal } from "@callgate/contract";
import type { ContentBlock } from "@modelcontextprotocol/server";

/** Bytes of pictures and sounds put into one answer; what is beyond is linked. */
const INLINE_BYTES = 16 * 1024 * 1024;

export interface ArtifactBlocksRequest {
  readonly gate: Gate;
  readonly principal: Principal;
  readonly artifacts: readonly (Artifact & { readonly handle: Handle })[];
  readonly signal: AbortSignal;
}

/**
 * Artifacts as a client can show them: pictures and sounds as such, everything else as a link that `resources/read`
 * resolves. Bytes are never text for the model.
 */
export async function artifactBlocks(request: ArtifactBlocksRequest): Promise<readonly ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  let leftBytes = INLINE_BYTES;
  for (const artifact of request.artifacts) {
    const type = artifact.mimeType.startsWith("image/") ? "image" : artifact.mimeType.startsWith("audio/") ? "audio" : undefined;
    const bytes = type !== undefined && artifact.sizeBytes <= leftBytes ? await readBytes(request, artifact.handle) : undefined;
    if (type === undefined || bytes === undefined) {
      blocks.push({ type: "resource_link", uri: artifact.handle, name: artifact.name, mimeType: artifact.mimeType, size: artifact.sizeBytes });
      continue;
    }
    leftBytes -= bytes.length;
    blocks.push({ type, data: Buffer.from(bytes).toString("base64"), mimeType: artifact.mimeType });
  }
  return blocks;
}

async function readBytes({ gate, principal, signal }: ArtifactBlocksRequest, handle: Handle): Promise<Uint8Array | undefined> {
  const read = await gate.read(handle, { principal, signal });
  return read.kind === "artifact" ? read.bytes : undefined;
}
