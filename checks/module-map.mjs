// Who may import whom. It is three things at once: the rule that checks/walls.mjs enforces, the diagram, and the table
// in ARCHITECTURE.md. Read a row as "this module may import those"; what is not listed is forbidden, type imports
// included. Tests are exempt from direction, but nothing may import a test.

/**
 * @typedef {object} Module
 * @property {string} path        folder, or file for a door
 * @property {string} does        one sentence for the table
 * @property {readonly string[]} imports names of modules it may import
 * @property {boolean} [io]       false where node's own modules are forbidden
 */

/** @type {Readonly<Record<string, Module>>} */
export const modules = {
  contract: { path: "packages/contract/src", does: "data that crosses a wall, and the interface of every seam; no I/O, no clock", imports: [], io: false },
  "runtime/lib": { path: "packages/runtime/src/lib", does: "tiny pure helpers: digests, ids, deadlines", imports: ["contract"] },
  "runtime/catalog": { path: "packages/runtime/src/catalog", does: "tools by name, validated once; search; declarations", imports: ["contract", "runtime/lib"] },
  "runtime/check": { path: "packages/runtime/src/check", does: "from a model's text to a program: extract, bounds, the checker of its language", imports: ["contract", "runtime/lib"] },
  "runtime/policy": { path: "packages/runtime/src/policy", does: "what holds where no rule decides; pure", imports: ["contract", "runtime/lib"], io: false },
  "runtime/approval": { path: "packages/runtime/src/approval", does: "the life of a question to a person", imports: ["contract", "runtime/lib"] },
  "runtime/journal": { path: "packages/runtime/src/journal", does: "the append-only record of runs, and the blobs beside it", imports: ["contract", "runtime/lib", "runtime/secrets"] },
  "runtime/secrets": { path: "packages/runtime/src/secrets", does: "keys, redaction, summaries", imports: ["contract", "runtime/lib"] },
  "runtime/source": { path: "packages/runtime/src/source", does: "tools made of functions, and what the user says of a source", imports: ["contract", "runtime/lib", "runtime/catalog"] },
  "runtime/result": { path: "packages/runtime/src/result", does: "what a model sees of a value: token budget, outline, handles", imports: ["contract", "runtime/lib"] },
  "runtime/telemetry": { path: "packages/runtime/src/telemetry", does: "the stream of events, and what is counted of it", imports: ["contract", "runtime/lib"] },
  "runtime/limits": { path: "packages/runtime/src/limits", does: "how often, how many at once and how much callers may call", imports: ["contract", "runtime/lib"] },
  "runtime/cache": { path: "packages/runtime/src/cache", does: "answers that are kept between processes, sealed", imports: ["contract", "runtime/lib", "runtime/secrets"] },
  "runtime/provenance": { path: "packages/runtime/src/provenance", does: "which labels have reached what, and where the parts of arguments came from", imports: ["contract", "runtime/lib"] },
  "runtime/broker": {
    path: "packages/runtime/src/broker",
    does: "THE door: the only code that runs a tool",
    imports: ["contract", "runtime/lib", "runtime/catalog", "runtime/policy", "runtime/approval", "runtime/limits", "runtime/provenance"],
  },
  "runtime/plan": { path: "packages/runtime/src/plan", does: "the writes of a rehearsed program as a plan, and a run held against it", imports: ["contract", "runtime/lib", "runtime/broker"] },
  "runtime/run": {
    path: "packages/runtime/src/run",
    does: "one execution of one program: check, drive, settle, replay",
    imports: ["contract", "runtime/lib", "runtime/catalog", "runtime/check", "runtime/broker", "runtime/journal", "runtime/result", "runtime/telemetry", "runtime/policy", "runtime/approval", "runtime/limits", "runtime/secrets", "runtime/provenance", "runtime/plan"],
  },
  "runtime/executor": { path: "packages/runtime/src/executor", does: "code blocks as runs of a gate: found in Markdown, kept as files, their output and exit codes", imports: ["contract", "runtime/check", "runtime/result"] },
  "runtime/workflow": { path: "packages/runtime/src/workflow", does: "saved programs: made of runs, found in records, held against their tools, tested, called as tools", imports: ["contract", "runtime/lib", "runtime/catalog", "runtime/result", "runtime/provenance"] },
  "runtime/surface": { path: "packages/runtime/src/surface", does: "the few tools through which a model reaches all others, and what they say", imports: ["contract", "runtime/result"] },
  "check-typescript": { path: "packages/check-typescript/src", does: "the checker of TypeScript and JavaScript, in a worker", imports: ["contract", "runtime doors"] },
  "check-python": { path: "packages/check-python/src", does: "the checker of Python: pyright in a process, a reading of the program in a worker", imports: ["contract", "runtime doors"] },
  "sandbox-quickjs": { path: "packages/sandbox-quickjs/src", does: "the embedded sandbox: QuickJS in worker threads", imports: ["contract"] },
  "http-client": { path: "packages/http-client/src", does: "HTTP to the outside: judged addresses, bounded answers, credentials by reference", imports: ["contract"] },
  "http-client/network": { path: "packages/http-client/src/network", does: "which addresses may be connected to, for programs in sandboxes and for requests of sources", imports: ["contract"] },
  "sandbox-process": { path: "packages/sandbox-process/src", does: "real interpreters as processes behind a launcher's walls: Python, Node, shell, any command", imports: ["contract", "http-client/network"] },
  "sandbox-deno": { path: "packages/sandbox-deno/src", does: "sandboxes out of npm for every system: V8 and Pyodide in Deno without permissions", imports: ["contract", "sandbox-process", "sandbox-quickjs"] },
  "source-mcp": { path: "packages/source-mcp/src", does: "MCP servers as sources", imports: ["contract", "http-client"] },
  "source-openapi": { path: "packages/source-openapi/src", does: "services with an OpenAPI document as sources", imports: ["contract", "runtime doors", "http-client", "source-openapi/request"] },
  "source-openapi/request": { path: "packages/source-openapi/src/request", does: "one operation over HTTP: its request, its answer, its pages", imports: ["contract", "http-client", "source-openapi"] },
  "source-sql": { path: "packages/source-sql/src", does: "SQL databases as sources: tables as typed tools, queries that the database keeps from writing", imports: ["contract", "runtime doors"] },
  "source-documents": { path: "packages/source-documents/src", does: "folders of documents as sources: full-text search, and reading by pages", imports: ["contract", "runtime doors"] },
  "source-graphql": { path: "packages/source-graphql/src", does: "GraphQL services as sources", imports: ["contract", "http-client"] },
  "mcp-server": { path: "packages/mcp-server/src", does: "a gate as an MCP server", imports: ["contract", "runtime doors"] },
  "journal-postgres": { path: "packages/journal-postgres/src", does: "the record of runs in PostgreSQL, for many machines", imports: ["contract", "runtime doors"] },
  redis: { path: "packages/redis/src", does: "what processes share in Redis: counts of rate limits, kept answers", imports: ["contract"] },
  "policy-cedar": { path: "packages/policy-cedar/src", does: "rules and Cedar policies: what they compile to, the schema, which of them a decision looks at", imports: ["contract", "runtime doors"] },
  agent: { path: "packages/agent/src", does: "the loop: turns of a model, whose calls and programs go through a gate", imports: ["contract", "runtime doors"] },
  eval: { path: "packages/eval/src", does: "suites of cases for agents and programs, judged by the journal and the end state", imports: ["contract", "runtime doors", "agent"] },
  testkit: { path: "packages/testkit/src", does: "suites that define a driver, a journal, a source; used by tests only", imports: ["contract"] },
  callgate: {
    path: "packages/callgate/src",
    does: "the only place that puts the parts together: library door, configuration, command line",
    imports: ["contract", "runtime doors", "check-typescript", "check-python", "sandbox-quickjs", "sandbox-process", "sandbox-deno", "source-mcp", "http-client", "source-openapi", "source-openapi/request", "source-graphql", "source-sql", "source-documents", "mcp-server", "journal-postgres", "redis", "policy-cedar", "agent", "eval"],
  },
};

/** Files directly in packages/runtime/src are its doors: they re-export by name, and only they are seen from outside. */
export const runtimeDoors = { path: "packages/runtime/src", imports: Object.keys(modules).filter((name) => name.startsWith("runtime/")).concat("contract") };
