/** The bytes of a request's or a response's body; undefined when there are more than allowed. Rejects as its stream does. */
export async function readBody({ body }: Pick<Response, "body">, maxBytes: number): Promise<Buffer | undefined> {
  if (body === null) return Buffer.alloc(0);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early ends the stream.
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > maxBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes);
}
