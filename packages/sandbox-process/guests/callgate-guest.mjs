// The Node guest of Callgate: runs inside a sandbox, Node 20.16 or newer, Node's own modules only.
//
// It reads jobs from descriptor 3 and writes frames to descriptor 4 (docs/reference/guest-protocol.md). A frame is two
// big-endian 32-bit lengths, a JSON object (the head) and raw bytes (the payload). Nothing here is a wall: the launcher
// is. What a program does to this file it does to itself, and the host believes nothing of what it reads.

import { Buffer } from "node:buffer";
import { Console } from "node:console";
import fs from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { Writable } from "node:stream";
import { inspect, types } from "node:util";
import vm from "node:vm";

const PROTOCOL = 1;
const PROGRAM = "program.js";
const TAG = "$cg";
const MAX_DEPTH = 200;
const MAX_DIGITS = 100_000;
const MAX_MESSAGE = 16_384;
const MAX_NAME = 200;
const { parse, stringify } = JSON;
const require = createRequire(join(process.cwd(), PROGRAM));

/** A call that did not end ok: `code`, `tool`, `retryable`, `details`. */
class ToolError extends Error {
  constructor({ code, message, tool, retryable, details }) {
    super(message);
    Object.assign(this, { code, tool, retryable: retryable === true, details });
  }
}
Object.defineProperty(ToolError.prototype, "name", { value: "ToolError", writable: true, configurable: true });

// ---------------------------------------------------------------------------------------------------------------- values

/** A value that cannot cross; `path` is a JSON Pointer to it. */
class ValueError extends Error {
  constructor(code, what, path) {
    super(`${what} (at ${path === "" ? "the top" : path})`);
    Object.assign(this, { code, path, details: { path } });
  }
}
Object.defineProperty(ValueError.prototype, "name", { value: "ValueError", writable: true, configurable: true });

/** A value as `{ json, tagged }`: the codec of @callgate/contract. Throws ValueError. */
function encode(value) {
  const walk = { tagged: false, path: [], open: new Set() };
  const json = write(value, walk);
  return { json, tagged: walk.tagged };
}

function refuse(walk, what, code = "VALUE_UNSUPPORTED") {
  throw new ValueError(code, what, walk.path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""));
}

function tag(walk, name, payload) {
  walk.tagged = true;
  return payload === undefined ? `{"${TAG}":"${name}"}` : `{"${TAG}":"${name}","v":${payload}}`;
}

function write(value, walk) {
  switch (typeof value) {
    case "string":
      return stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (Number.isFinite(value)) return Object.is(value, -0) ? tag(walk, "-0") : String(value);
      return tag(walk, value > 0 ? "inf" : value < 0 ? "-inf" : "nan");
    case "undefined":
      return tag(walk, "undefined");
    case "bigint": {
      const digits = String(value);
      if (digits.length > MAX_DIGITS) refuse(walk, `A BigInt of more than ${MAX_DIGITS} digits cannot cross`, "VALUE_TOO_LARGE");
      return tag(walk, "bigint", `"${digits}"`);
    }
    case "object":
      return value === null ? "null" : writeObject(value, walk);
    default:
      return refuse(walk, `A ${typeof value} cannot cross; pass plain data`);
  }
}

function writeObject(value, walk) {
  if (walk.open.size >= MAX_DEPTH) refuse(walk, `The value is nested deeper than ${MAX_DEPTH}`, "VALUE_TOO_LARGE");
  if (walk.open.has(value)) refuse(walk, "The value contains itself; a cycle cannot cross");
  walk.open.add(value);
  const written = Array.isArray(value) ? writeArray(value, walk) : writeOther(value, walk);
  walk.open.delete(value);
  return written;
}

function at(walk, key, item) {
  walk.path.push(key);
  const written = write(item, walk);
  walk.path.pop();
  return written;
}

function writeArray(value, walk) {
  const items = [];
  for (let index = 0; index < value.length; index++) items.push(value[index] === undefined && !Object.hasOwn(value, index) ? tag(walk, "hole") : at(walk, index, value[index]));
  const named = value.length > 1_000 ? [] : Object.keys(value).filter((key) => !(Number(key) >= 0 && Number(key) < value.length));
  if (named.length === 0) return `[${items.join(",")}]`;
  return tag(walk, "array", `[[${items.join(",")}],[${named.map((key) => `[${stringify(key)},${at(walk, key, value[key])}]`).join(",")}]]`);
}

function writeOther(value, walk) {
  if (ArrayBuffer.isView(value)) return writeView(value, walk);
  if (types.isArrayBuffer(value)) return tag(walk, "buffer", `"${Buffer.from(value).toString("base64")}"`);
  if (types.isNativeError(value) || value instanceof Error) return writeError(value, walk);
  if (types.isPromise(value)) refuse(walk, "A promise cannot cross; await it first");
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf"))) return writeRecord(value, walk);
  const isBase = Object.getPrototypeOf(Object.getPrototypeOf(prototype) ?? {}) === null;
  if (types.isDate(value) && isBase) return tag(walk, "date", Number.isNaN(value.getTime()) ? "null" : String(value.getTime()));
  if (types.isMap(value) && isBase) return tag(walk, "map", `[${[...value].map(([key, item], index) => `[${at(walk, index, key)},${at(walk, index, item)}]`).join(",")}]`);
  if (types.isSet(value) && isBase) return tag(walk, "set", `[${[...value].map((item, index) => at(walk, index, item)).join(",")}]`);
  return refuse(walk, `An instance of ${prototype.constructor?.name || "a class"} cannot cross; pass a plain object or a string`);
}

function writeRecord(value, walk) {
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(walk, "A property named by a symbol cannot cross");
  const entries = Object.keys(value).map((key) => [stringify(key), at(walk, key, value[key])]);
  return Object.hasOwn(value, TAG) ? tag(walk, "object", `[${entries.map((entry) => `[${entry.join(",")}]`).join(",")}]`) : `{${entries.map((entry) => entry.join(":")).join(",")}}`;
}

function writeView(value, walk) {
  const base64 = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  const name = value[Symbol.toStringTag] ?? "DataView";
  return name === "Uint8Array" ? tag(walk, "bytes", `"${base64}"`) : tag(walk, "view", `["${name}","${base64}"]`);
}

function writeError(value, walk) {
  const more = Object.keys(value).filter((key) => !["name", "message", "stack"].includes(key) && !(key === "code" && typeof value.code === "string"));
  const parts = [stringify(String(value.name)), stringify(String(value.message)), typeof value.code === "string" ? stringify(value.code) : "null"];
  if (more.length > 0) parts.push(`[${more.map((key) => `[${stringify(key)},${at(walk, key, value[key])}]`).join(",")}]`);
  else if (parts[2] === "null") parts.pop();
  return tag(walk, "error", `[${parts.join(",")}]`);
}

/** The value that the host wrote. */
function decode(json, tagged) {
  const tree = parse(json);
  return tagged ? revive(tree) : tree;
}

function revive(tree) {
  if (typeof tree !== "object" || tree === null) return tree;
  if (Array.isArray(tree)) {
    for (let index = 0; index < tree.length; index++) {
      if (tree[index]?.[TAG] === "hole") delete tree[index];
      else tree[index] = revive(tree[index]);
    }
    return tree;
  }
  if (Object.hasOwn(tree, TAG)) return fromTag(tree[TAG], tree.v);
  for (const key of Object.keys(tree)) define(tree, key, revive(tree[key]));
  return tree;
}

function define(target, key, value) {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

const constants = { undefined, nan: Number.NaN, inf: Number.POSITIVE_INFINITY, "-inf": Number.NEGATIVE_INFINITY, "-0": -0 };

function fromTag(name, payload) {
  if (Object.hasOwn(constants, name)) return constants[name];
  const bytes = (text) => Uint8Array.from(Buffer.from(text, "base64"));
  switch (name) {
    case "bigint":
      return BigInt(payload);
    case "date":
      return new Date(payload ?? Number.NaN);
    case "bytes":
      return bytes(payload);
    case "buffer":
      return bytes(payload).buffer;
    case "view":
      return new globalThis[payload[0]](bytes(payload[1]).buffer);
    case "map":
      return new Map(payload.map(([key, item]) => [revive(key), revive(item)]));
    case "set":
      return new Set(payload.map(revive));
    case "object":
      return withNamed({}, payload);
    case "array":
      return withNamed(revive(payload[0]), payload[1]);
    case "error": {
      const error = new Error(payload[1]);
      if (payload[0] !== "Error") Object.defineProperty(error, "name", { value: payload[0], configurable: true, writable: true });
      if (typeof payload[2] === "string") define(error, "code", payload[2]);
      return withNamed(error, payload[3] ?? []);
    }
    default:
      throw new TypeError("not a value of the codec");
  }
}

function withNamed(target, entries) {
  for (const [key, item] of entries) define(target, key, revive(item));
  return target;
}

// --------------------------------------------------------------------------------------------------------------- channel

/** Writes all of some bytes, however full the pipe is. */
function writeAll(descriptor, bytes) {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += fs.writeSync(descriptor, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function send(head, payload = "") {
  const text = Buffer.from(stringify(head));
  const body = typeof payload === "string" ? Buffer.from(payload) : payload;
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(text.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  writeAll(4, Buffer.concat([prefix, text, body]));
}

const commands = new Socket({ fd: 3, readable: true, writable: false });
let received = Buffer.alloc(0);

commands.on("data", (chunk) => {
  received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
  while (received.length >= 8) {
    const headBytes = received.readUInt32BE(0);
    const total = 8 + headBytes + received.readUInt32BE(4);
    if (received.length < total) break;
    const head = parse(received.toString("utf8", 8, 8 + headBytes));
    const payload = received.toString("utf8", 8 + headBytes, total);
    received = received.subarray(total);
    if (head.k === "job") runJob(head, payload);
    else if (head.k === "done") answer(head, payload);
    else if (head.k === "interrupt" && job?.block === head.block) job.interrupt?.();
  }
});
commands.on("end", () => process.exit(0)); // The host is gone.

// ----------------------------------------------------------------------------------------------------------------- calls

/** The job under way; undefined between two blocks of a session. */
let job;
/** Goes on over the blocks of a session, so that a late answer to an earlier one is nobody's. */
let nextSeq = 0;
const waiting = new Map();

/** Sends a call and promises its answer. Rejects, before anything is sent, when the arguments cannot cross. */
function issue(kind, name, args) {
  const place = {};
  Error.captureStackTrace(place, issue);
  return new Promise((resolve, reject) => {
    const fail = (fields) => reject(Object.defineProperty(new ToolError({ tool: name, ...fields }), "stack", { value: place.stack, writable: true, configurable: true }));
    if (job === undefined) return fail({ code: "NO_BLOCK", message: `${name} was called when no block of the session was under way; await it in a block` });
    let wire;
    try {
      wire = encode(args);
    } catch (error) {
      if (!(error instanceof ValueError)) return reject(error);
      return fail({ code: error.code, message: `The arguments of ${name} cannot be sent: ${error.message}`, details: error.details });
    }
    const bytes = Buffer.from(wire.json);
    const { argumentBytes } = job.limits;
    if (bytes.length > argumentBytes) {
      return fail({ code: "LIMIT_EXCEEDED", message: `The arguments of ${name} are over the limit of ${argumentBytes} bytes (argumentBytes); the call was not made. Send less, or send it in parts`, details: { limit: "argumentBytes", limitValue: argumentBytes } });
    }
    const seq = nextSeq;
    nextSeq += 1;
    waiting.set(seq, { resolve, fail });
    commands.ref();
    send({ k: kind, seq, name, tagged: wire.tagged }, bytes);
  });
}

function answer({ seq, error, tagged }, payload) {
  const waiter = waiting.get(seq);
  waiting.delete(seq);
  if (waiting.size === 0 && job !== undefined) commands.unref();
  if (waiter === undefined) return;
  if (error !== undefined) return waiter.fail({ ...error, details: error.details === undefined ? undefined : decode(error.details.json, error.details.tagged) });
  try {
    waiter.resolve(decode(payload, tagged === true));
  } catch (fault) {
    waiter.fail({ code: "VALUE_TOO_LARGE", message: `The result does not fit the memory of the program (${fault.message}); ask for less of it` });
  }
}

/** What code asks any object for without meaning a tool: `await tools`, JSON.stringify(tools), `${tools}`. */
const neverTools = new Set(["then", "toJSON", "length", "inspect", "nodeType", "$$typeof", "asymmetricMatch", "prototype", "__proto__", ...Object.getOwnPropertyNames(Object.prototype)]);

/** Globals, and members of `tools`. */
const waits = {
  sleep: (until) => new Promise((resolve) => setTimeout(resolve, until instanceof Date ? until.getTime() - Date.now() : until)),
  waitFor: () => Promise.reject(new ToolError({ code: "UNSUPPORTED", tool: "waitFor", message: "waitFor needs a program that can be suspended and replayed; run it in the embedded sandbox" })),
};

/** `tools`: frozen namespaces of stubs. Behind each stands a prototype that answers for what is not there. */
function createTools(modules) {
  const space = (members, missing) => {
    const guard = new Proxy(Object.freeze(Object.create(null)), {
      get: (_target, key) => (typeof key === "symbol" || neverTools.has(key) ? undefined : missing(key)),
    });
    return Object.freeze(Object.setPrototypeOf(members, guard));
  };
  const stubOf = (name) => {
    const stub = (args = {}) => issue("call", name, args);
    Object.defineProperties(stub, { name: { value: name }, pages: { value: (args) => pagesOf(name, args) } });
    return Object.freeze(stub);
  };
  const spaces = modules.map(({ namespace, tools, open }) => {
    const members = Object.fromEntries(tools.map((tool) => [tool, stubOf(`${namespace}.${tool}`)]));
    // Tools of an open one are not known: the host answers the call, and says why it cannot be made.
    return [namespace, space(members, (key) => (open === true ? stubOf(`${namespace}.${key}`) : notFound(namespace, key, tools)))];
  });
  const all = {
    ...Object.fromEntries(spaces),
    search: (query, options) => issue("builtin", "search", { ...options, query }),
    describe: (names) => issue("builtin", "describe", { names: typeof names === "string" ? [names] : names }),
    ...waits,
  };
  return space(all, (key) => notFound("", key, Object.keys(all)));
}

/** The pages of a paged tool, one call each: every answer holds the arguments of the next. */
async function* pagesOf(name, args = {}) {
  for (let turn = args; turn !== undefined; ) {
    const answer = await issue("call", name, turn);
    if (answer?.page === undefined) throw new ToolError({ code: "INVALID_INPUT", tool: name, message: `${name} does not give its result in pages; call it alone` });
    yield answer.page;
    turn = answer.next === undefined || answer.next === null ? undefined : { ...args, ...answer.next };
  }
}

function notFound(namespace, member, names) {
  const tool = namespace === "" ? member : `${namespace}.${member}`;
  const nearest = nearestName(member, names);
  const what = namespace === "" ? `There is no namespace "${member}" in tools` : `There is no tool "${member}" in tools.${namespace}`;
  const hint = nearest === undefined ? '; find tools with await tools.search("what it should do")' : `; did you mean "${nearest}"?`;
  throw new ToolError({ code: "TOOL_NOT_FOUND", tool, message: what + hint, details: nearest === undefined ? {} : { nearest: [nearest] } });
}

function nearestName(wanted, names) {
  const bound = wanted.length < 5 ? 2 : wanted.length * 0.4 + 1;
  const ranked = names.map((name) => [distance(wanted.toLowerCase().slice(0, 64), name.toLowerCase().slice(0, 64)), name]).toSorted(([a], [b]) => a - b);
  return ranked[0] !== undefined && ranked[0][0] < bound ? ranked[0][1] : undefined;
}

/** Levenshtein. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let line = 1; line <= a.length; line++) {
    const next = [line];
    for (let column = 1; column <= b.length; column++) next.push(Math.min(row[column] + 1, next[column - 1] + 1, row[column - 1] + (a[line - 1] === b[column - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

// ---------------------------------------------------------------------------------------------------------------- output

/** A stream whose bytes go to the host in frames, in the order they were written, with those of the console between. */
function frameStream(number) {
  const stream = new Writable({
    decodeStrings: true,
    write(chunk, _encoding, done) {
      for (let start = 0; start < chunk.length; start += 1 << 20) send({ k: "stream", stream: number }, chunk.subarray(start, start + (1 << 20)));
      done();
    },
  });
  return Object.assign(stream, { fd: number, isTTY: false, writableIsSynchronous: true });
}

function installOutput() {
  let level = "log";
  const sink = (fallback) => new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      send({ k: "console", level: level === "log" ? fallback : level }, String(chunk).replace(/\n$/, ""));
      done();
    },
  });
  const base = new Console({ stdout: sink("log"), stderr: sink("error"), colorMode: false });
  for (const method of ["info", "debug", "warn"]) {
    const own = base[method].bind(base);
    base[method] = (...values) => {
      level = method;
      try {
        own(...values);
      } finally {
        level = "log";
      }
    };
  }
  Object.defineProperty(globalThis, "console", { value: base, writable: true, configurable: true, enumerable: false });
  for (const [name, number] of [["stdout", 1], ["stderr", 2]]) Object.defineProperty(process, name, { value: frameStream(number), configurable: true, enumerable: true });
}

const shown = (value) => (typeof value === "string" ? value : inspect(value));

function installGlobals() {
  const globals = {
    ToolError,
    require,
    results: Object.freeze({ read: (handle, options) => issue("builtin", "read_result", { ...options, handle }) }),
    text: (value) => send({ k: "text" }, shown(value)),
    progress: (message, fraction) => send({ k: "progress", message: shown(message).slice(0, 1_000), ...(typeof fraction === "number" && fraction >= 0 && fraction <= 1 ? { fraction } : {}) }),
    ...waits,
  };
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

// --------------------------------------------------------------------------------------------------------------- program

/** The modules that `tools` was made of. */
let defined;

function runJob(head, code) {
  const modules = stringify(head.modules);
  if (modules !== defined) Object.defineProperty(globalThis, "tools", { value: createTools(head.modules), writable: false, configurable: true, enumerable: false });
  defined = modules;
  const { tools } = globalThis;
  job = { ...head, before: stampsOfOut() };
  try {
    fs.mkdirSync("out", { recursive: true });
  } catch {} // A working folder that cannot be written has none.
  commands.unref();
  const mine = job;
  const finish = (end) => job === mine && endJob(end);
  const settled = { value: (value) => finish(() => valueFrame(value)), error: (thrown) => finish(() => errorFrame(thrown)) };
  try {
    const callgate = Object.freeze({ tools, import: (name) => import(name) });
    if (head.session === true) {
      // What the imports of a checked block become.
      Object.defineProperty(globalThis, "$callgate", { value: callgate, writable: false, configurable: true, enumerable: false });
      return runBlock(code, settled);
    }
    const main = new vm.Script(code, { filename: PROGRAM, importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER }).runInThisContext();
    Promise.resolve(main(callgate)).then(settled.value, settled.error);
  } catch (thrown) {
    settled.error(thrown);
  }
}

/** The inspector, whose REPL mode lets names be declared again and knows `await` at the top level. */
let engine;

/**
 * A block of a session: what it declares stays. An interrupt ends it and keeps that: by a frame where it waits, by SIGINT
 * where it computes.
 */
function runBlock(code, settled) {
  if (engine === undefined) {
    const { Session } = require("node:inspector");
    engine = new Session();
    engine.connect();
    engine.post("Runtime.enable");
  }
  const interrupted = () => settled.error(Object.assign(new Error("The block was interrupted; what was defined and written before is kept"), { name: "Interrupted", code: "INTERRUPTED" }));
  job.interrupt = interrupted;
  const evaluate = () =>
    engine.post("Runtime.evaluate", { expression: `${code}\n//# sourceURL=${PROGRAM}`, replMode: true, awaitPromise: true, objectGroup: PROGRAM }, (fault, answered) => {
      if (fault !== null || answered?.result === undefined) return interrupted();
      const { exceptionDetails, result } = answered;
      const value = exceptionDetails?.exception ?? result;
      handOver(value, exceptionDetails === undefined ? settled.value : settled.error);
      engine.post("Runtime.releaseObjectGroup", { objectGroup: PROGRAM });
    });
  globalThis[evaluating] = evaluate;
  globalThis[waitingNow] = () => job !== undefined && send({ k: "blocked", delivered: 0 });
  try {
    // Run through a script of its own, because only that can be broken off by a signal while it computes.
    starter.runInThisContext({ breakOnSigint: true });
  } catch (thrown) {
    if (thrown?.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED") {
      installOutput(); // A stream that was broken off in the middle of a line writes no more.
      interrupted();
    } else settled.error(thrown);
  }
}

const evaluating = Symbol.for("callgate.evaluate");
const receiving = Symbol.for("callgate.receive");
const waitingNow = Symbol.for("callgate.waits");
// Says that it waits while the script still runs: from then on the host sends no signal, which Node would take for its own.
const starter = new vm.Script('globalThis[Symbol.for("callgate.evaluate")](); globalThis[Symbol.for("callgate.waits")]()', { filename: "callgate" });

/** Turns what the inspector calls a value into the value itself. */
function handOver(remote, take) {
  const argument = remote.objectId !== undefined ? { objectId: remote.objectId } : remote.unserializableValue !== undefined ? { unserializableValue: remote.unserializableValue } : { value: remote.value };
  globalThis[receiving] = take;
  engine.post("Runtime.evaluate", { expression: "globalThis" }, (_fault, { result }) => {
    engine.post("Runtime.callFunctionOn", { objectId: result.objectId, functionDeclaration: 'function (value) { this[Symbol.for("callgate.receive")](value) }', arguments: [remote.type === "undefined" ? { unserializableValue: "undefined" } : argument] }, (fault) => {
      if (fault !== null) take(undefined);
    });
  });
}

function endJob(frameOf) {
  let end;
  try {
    end = frameOf();
  } catch (error) {
    end = errorFrame(error);
  }
  const { bounds, before } = job;
  job = undefined;
  waiting.clear();
  try {
    sendArtifacts(bounds, before);
  } catch (error) {
    console.error(`Files could not be collected: ${error.message}`);
  }
  commands.ref();
  send(...end);
}

function valueFrame(value) {
  const { json, tagged } = encode(value);
  const bytes = Buffer.from(json);
  return bytes.length > job.limits.resultBytes ? [{ k: "limit", limit: "resultBytes" }] : [{ k: "returned", tagged }, bytes];
}

function errorFrame(thrown) {
  if (!(thrown instanceof Error) && !types.isNativeError(thrown)) return [{ k: "threw", error: { name: "NonError", message: inspect(thrown).slice(0, MAX_MESSAGE), ...detailsOf(thrown) } }];
  if (thrown.message === "Array buffer allocation failed" || thrown.code === "ERR_MEMORY_ALLOCATION_FAILED") return [{ k: "limit", limit: "memoryMiB" }];
  const told = { name: String(thrown.name).slice(0, MAX_NAME), message: String(thrown.message).slice(0, MAX_MESSAGE) };
  for (const [field, type] of [["code", "string"], ["tool", "string"], ["retryable", "boolean"]]) if (typeof thrown[field] === type) told[field] = type === "string" ? thrown[field].slice(0, MAX_NAME) : thrown[field];
  // The program's own lines only: of a stack, the first place in it.
  const place = /program\.js:(\d+)(?::(\d+))?/.exec(String(thrown.stack));
  if (place !== null) Object.assign(told, { line: Number(place[1]), column: Number(place[2] ?? 1) });
  return [{ k: "threw", error: { ...told, ...detailsOf(thrown.details) } }];
}

function detailsOf(value) {
  if (value === undefined) return {};
  try {
    const details = encode(value);
    return details.json.length <= 262_144 ? { details } : {};
  } catch {
    return {}; // What cannot cross is left out; the error itself counts.
  }
}

// ------------------------------------------------------------------------------------------------------------- artifacts

/** Files of `out/` that were not there before. Regular files only, opened without following links. */
function sendArtifacts({ artifactBytes, artifacts }, before) {
  const left = { bytes: artifactBytes, files: artifacts, before, isOver: false };
  for (const path of filesOfOut()) {
    if (left.files <= 0 && left.isOver) break;
    sendFile(path, left);
  }
  if (left.isOver) console.error("Some files of out/ were left out: they are more than a run may bring back");
}

/** Paths of the regular files of `out/`, as bytes, those of a folder before those of folders in it, however deep; no links. */
function* filesOfOut() {
  if (fs.lstatSync("out", { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const waiting = [Buffer.from("out")];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    let entries;
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
    } catch {
      continue; // It went away, or its path is longer than any may be.
    }
    entries.sort((a, b) => Buffer.compare(a.name, b.name));
    const named = (kept) => entries.filter(kept).map(({ name }) => Buffer.concat([folder, Buffer.from("/"), name]));
    yield* named((entry) => entry.isFile());
    waiting.push(...named((entry) => entry.isDirectory()).reverse());
  }
}

function stampsOfOut() {
  const stamps = new Map();
  for (const path of filesOfOut()) {
    const state = fs.lstatSync(path, { throwIfNoEntry: false });
    if (state !== undefined) stamps.set(path.toString("latin1"), stampOf(state));
  }
  return stamps;
}

function stampOf({ mtimeMs, ctimeMs, size }) {
  return `${mtimeMs} ${ctimeMs} ${size}`;
}

/** So many bytes and no more: something may still write to the file. */
function readUpTo(descriptor, size) {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  for (let read = -1; read !== 0 && filled < size; filled += read) read = fs.readSync(descriptor, bytes, filled, size - filled, null);
  return bytes.subarray(0, filled);
}

function sendFile(path, left) {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  let descriptor;
  try {
    descriptor = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return; // It went away, or is a link by now.
  }
  try {
    const state = fs.fstatSync(descriptor);
    if (!state.isFile() || left.before.get(path.toString("latin1")) === stampOf(state)) return;
    if (left.files <= 0 || state.size > left.bytes) {
      left.isOver = true;
      return;
    }
    left.bytes -= state.size;
    left.files -= 1;
    send({ k: "artifact", name: path.toString("utf8", "out/".length), mimeType: "" }, readUpTo(descriptor, state.size));
  } finally {
    fs.closeSync(descriptor);
  }
}

// ------------------------------------------------------------------------------------------------------------------ life

installOutput();
installGlobals();
// While a block computes, its script takes the signal. Otherwise the frame that came before it counts.
process.on("SIGINT", () => undefined);
for (const event of ["uncaughtException", "unhandledRejection"]) process.on(event, (thrown) => job !== undefined && endJob(() => errorFrame(thrown)));
process.on("beforeExit", () => job !== undefined && endJob(() => [{ k: "stalled" }]));
process.on("exit", (code) => {
  if (job === undefined || job.session === true) return; // Of a session the host sees that its guest is gone.
  const error = { name: "ExitError", code: "EXIT_CODE", message: `The program exited with code ${code}`, ...detailsOf({ exitCode: code }) };
  endJob(() => (code === 0 ? valueFrame(undefined) : [{ k: "threw", error }]));
});
send({ k: "hello", protocol: PROTOCOL, language: "javascript", version: process.versions.node });
