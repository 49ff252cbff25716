// What the conformance suite cannot send: a relay on a free port of the loopback that adds the token and hands everything
// else through untouched, Host and Origin too.
import { createServer, request } from "node:http";

/** @returns its URL, and what ends it */
export async function openRelay({ port: target, token }) {
  const relay = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const forward = request({ host: "127.0.0.1", port: target, path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forward.destroy());
    incoming.pipe(forward);
  });
  await new Promise((resolve) => relay.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${relay.address().port}/mcp`,
    close() {
      relay.closeAllConnections();
      relay.close();
    },
  };
}
