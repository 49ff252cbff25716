import { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";

/** Whom the beginning of a tunnel is really for. */
export type InnerName =
  /** A TLS hello that names a server. A name that is encrypted (ECH) shows its outer one. */
  | { readonly kind: "named"; readonly name: string }
  /** A TLS hello without a name, or not TLS at all. */
  | { readonly kind: "unnamed" }
  /** It begins as TLS does and is no hello that can be read. */
  | { readonly kind: "unreadable" };

export interface InnerNameReader {
  push(bytes: Buffer): void;
  /** Never rejects; stays open as long as the hello is not complete. */
  readonly found: Promise<InnerName>;
  close(): void;
}

const handshakeRecord = 0x16;
/** OpenSSL takes no larger hello either. */
const maxHelloBytes = 128 * 1024;
/** How a server without a certificate ends after it understood a hello that names nobody. */
const understood = ["ERR_SSL_NO_SHARED_CIPHER", "ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM"];

/**
 * Reads the server name out of the first bytes of a tunnel, with the TLS of Node itself: a server that never answers is
 * handed the bytes, and is asked for a certificate of that name.
 */
export function createInnerNameReader(): InnerNameReader {
  const { promise: found, resolve } = Promise.withResolvers<InnerName>();
  let server: TLSSocket | undefined;
  let wire: Duplex | undefined;
  let bytes = 0;

  function decide(name: InnerName): void {
    resolve(name);
    server?.destroy();
    wire?.destroy();
  }

  function begin(first: number | undefined): void {
    if (first !== handshakeRecord) return decide({ kind: "unnamed" });
    wire = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    wire.on("error", () => undefined);
    server = new TLSSocket(wire, {
      isServer: true,
      minVersion: "TLSv1",
      ciphers: "ALL:@SECLEVEL=0",
      SNICallback: (name) => decide({ kind: "named", name }), // Its callback is never called: nobody is answered.
    });
    server.on("error", (error: NodeJS.ErrnoException) => decide({ kind: understood.includes(error.code ?? "") ? "unnamed" : "unreadable" }));
  }

  return {
    push(chunk) {
      if (bytes === 0 && chunk.length > 0) begin(chunk[0]);
      bytes += chunk.length;
      if (bytes > maxHelloBytes) decide({ kind: "unreadable" });
      else wire?.push(chunk);
    },
    found,
    close: () => decide({ kind: "unreadable" }),
  };
}
