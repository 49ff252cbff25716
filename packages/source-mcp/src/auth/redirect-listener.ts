import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What the authorization server sent the browser back with. */
export type Redirected =
  | { readonly kind: "code"; readonly code: string; readonly iss: string | undefined }
  | { readonly kind: "error"; readonly error: string; readonly description: string | undefined };

export interface RedirectListener {
  readonly url: string;
  /** The first answer with this state; everything else is refused. Rejects with the reason of `signal`. */
  next(state: string, signal: AbortSignal): Promise<Redirected>;
  close(): Promise<void>;
}

const path = "/callback";

/**
 * Waits on the loopback for the browser of the person who signs in. A request without the right state is answered with
 * 400 and changes nothing: another page in the same browser can send one.
 *
 * @param port 0 for any that is free
 */
export async function listenForRedirect(port: number): Promise<RedirectListener> {
  let taken: { readonly state: string; readonly resolve: (redirected: Redirected) => void } | undefined;
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const found = request.method === "GET" && url.pathname === path ? readRedirect(url.searchParams) : undefined;
    if (found === undefined || taken === undefined || url.searchParams.get("state") !== taken.state) {
      response.writeHead(400, plain).end("This is no answer to a sign-in that is under way.\n");
      return;
    }
    response.writeHead(200, plain).end(found.kind === "code" ? "Signed in. You can close this page.\n" : "The sign-in was refused. You can close this page.\n");
    taken.resolve(found);
    taken = undefined;
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    next: (state, signal) =>
      new Promise((resolve, reject) => {
        taken = { state, resolve };
        const onAbort = (): void => reject(signal.reason as Error);
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
      }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const plain = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", "referrer-policy": "no-referrer" };

function readRedirect(params: URLSearchParams): Redirected | undefined {
  const [code, error] = [params.get("code"), params.get("error")];
  if (error !== null) return { kind: "error", error, description: params.get("error_description") ?? undefined };
  return code === null ? undefined : { kind: "code", code, iss: params.get("iss") ?? undefined };
}
