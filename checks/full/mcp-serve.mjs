// A small gate over stdio, for checks/full/mcp-inspector.mjs.
import { completed, createFakeGate, namespaceView, toolView } from "../../packages/mcp-server/src/fixtures/fake-gate.ts";
import { createMcpServer } from "../../packages/mcp-server/src/index.ts";

/** What the inspector's calls come to; also served over HTTP by the check itself. */
export function inspectedGate() {
  const { value: _value, ...failed } = completed(undefined, { status: "failed", error: { code: "NO_SUCH_DOC", message: "There is no such document", retryable: false } });
  return createFakeGate({
    namespaces: [namespaceView("docs", 1, "Documents")],
    tools: [toolView("docs.get", "reads documents")],
    run: (program) => Promise.resolve(program.includes("fail") ? failed : completed({ answer: 42 })),
  });
}

if (process.argv[1] === import.meta.filename) {
  const server = createMcpServer({ gate: inspectedGate(), version: "0.1.0" });
  await server.serveStdio().closed;
  await server.close();
}
