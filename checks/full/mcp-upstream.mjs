// A stdio MCP server with the resources, prompts and tools the conformance suite asks for by name. It stands *behind* the
// gate in checks/full/mcp-conformance.mjs, so that what passes has passed through. No SDK: the fewer parts the better.
import { createInterface } from "node:readline";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const text = (value) => ({ type: "text", text: value });
const user = (content) => ({ role: "user", content });

const resources = [
  { uri: "test://static-text", name: "Static text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "Static binary", mimeType: "image/png" },
];
const prompts = {
  test_simple_prompt: { arguments: [], messages: () => [user(text("This is a simple prompt for testing."))] },
  test_prompt_with_arguments: {
    arguments: ["arg1", "arg2"].map((name) => ({ name, description: `Argument ${name}`, required: true })),
    messages: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    arguments: [{ name: "resourceUri", description: "What to embed", required: true }],
    messages: ({ resourceUri }) => [user({ type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." } }), user(text("Please process the embedded resource above."))],
  },
  test_prompt_with_image: { arguments: [], messages: () => [user({ type: "image", data: png, mimeType: "image/png" }), user(text("Please analyze the image above."))] },
};

function read(uri) {
  if (uri === "test://static-text") return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." };
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: png };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  return id === undefined ? undefined : { uri, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
}

const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, resources: {}, prompts: {} }, serverInfo: { name: "conformance-upstream", version: "1.0.0" } }),
  "tools/list": () => ({ tools: [{ name: "test_simple_text", description: "Returns a simple text", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }] }),
  "tools/call": () => ({ content: [text("This is a simple text response for testing.")] }),
  "resources/list": () => ({ resources }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "Template" }] }),
  "resources/read": ({ uri }) => (read(uri) === undefined ? undefined : { contents: [read(uri)] }),
  "prompts/list": () => ({ prompts: Object.entries(prompts).map(([name, prompt]) => ({ name, description: `Conformance prompt ${name}`, arguments: prompt.arguments })) }),
  "prompts/get": ({ name, arguments: args = {} }) => (Object.hasOwn(prompts, name) ? { messages: prompts[name].messages(args) } : undefined),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const result = Object.hasOwn(answers, method) ? answers[method](params) : undefined;
  const outcome = result === undefined ? { error: { code: -32601, message: "Not found" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
});
