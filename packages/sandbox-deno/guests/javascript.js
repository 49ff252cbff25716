// The JavaScript guest of Callgate in Deno without permissions: one program, then the host ends the process.
//
// It speaks docs/reference/guest-protocol.md over stdin and stdout, because a guest without permissions cannot open
// other descriptors. Programs run in a realm of their own that holds the language and nothing of Deno; the world they
// see (`tools`, `console`, timers, `crypto`) is the text the embedded sandbox uses, which comes as the first frame.
// Nothing here is a wall: Deno's permissions are. What a program does to this file it does to itself.
//
// The same program, seed, clock and completions give the same calls: `Date` stands at the last completion, randomness
// comes from the seed, timers are the host's, and what shows the garbage collector, a second thread or a real clock is
// not there.
import { inspect } from "node:util";
import vm from "node:vm";

const protocol = 1;
const programFile = "program.js";
const { stdin, stdout, exit } = Deno;
const engineVersion = Deno.version.v8;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const { setImmediate, URL } = globalThis;

// ---------------------------------------------------------------------------------------------------------- channel

const incoming = { bytes: new Uint8Array(65_536), start: 0, end: 0 };

/** Exactly `size` bytes; blocks. The host closing the channel is the end. */
function take(size) {
  const taken = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    if (incoming.start === incoming.end) {
      // A large rest goes where it belongs at once.
      const target = size - at >= incoming.bytes.length ? taken.subarray(at) : incoming.bytes;
      const count = stdin.readSync(target) ?? exit(0);
      if (target !== incoming.bytes) {
        at += count;
        continue;
      }
      incoming.start = 0;
      incoming.end = count;
    }
    const part = incoming.bytes.subarray(incoming.start, Math.min(incoming.end, incoming.start + size - at));
    taken.set(part, at);
    at += part.length;
    incoming.start += part.length;
  }
  return taken;
}

function receive() {
  const sizes = new DataView(take(8).buffer);
  const head = JSON.parse(decoder.decode(take(sizes.getUint32(0))));
  return { head, payload: decoder.decode(take(sizes.getUint32(4))) };
}

/** One write, so that what interrupts it cannot leave half a frame. */
function send(head, payload = "") {
  const text = encoder.encode(JSON.stringify(head));
  const body = typeof payload === "string" ? encoder.encode(payload) : payload;
  const bytes = new Uint8Array(8 + text.length + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, text.length);
  view.setUint32(4, body.length);
  bytes.set(text, 8);
  bytes.set(body, 8 + text.length);
  for (let at = 0; at < bytes.length; ) at += stdout.writeSync(bytes.subarray(at));
}

// ------------------------------------------------------------------------------------------------------------ realm

/** Runs inside the realm, before anything else. Gives `setNow` and the functions this file needs from there. */
function prepareRealm() {
  const { apply, construct } = Reflect;
  const { defineProperty, freeze } = Object;
  const Real = Date;
  const { toString: realText, toTimeString: realTime } = Real.prototype;
  const { indexOf, slice } = String.prototype;
  /** Without the zone's name, which depends on the language data of the engine. */
  const short = (text) => apply(slice, text, [0, apply(indexOf, `${text} (`, [" ("])]);
  const { then } = Promise.prototype;
  let nowMs = 0;
  function Clock(...given) {
    if (new.target === undefined) return short(apply(realText, new Real(nowMs), []));
    return construct(Real, given.length === 0 ? [nowMs] : given, new.target);
  }
  const hide = (target, name, value) => defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  hide(Clock, "name", "Date");
  hide(Clock, "length", 7);
  hide(Clock, "now", { now: () => nowMs }.now);
  hide(Clock, "parse", Real.parse);
  hide(Clock, "UTC", Real.UTC);
  defineProperty(Clock, "prototype", { __proto__: null, value: Real.prototype, writable: false });
  hide(Real.prototype, "constructor", Clock);
  hide(globalThis, "Date", Clock);
  const texts = {
    toString() {
      return short(apply(realText, this, []));
    },
    toTimeString() {
      return short(apply(realTime, this, []));
    },
  };
  hide(Real.prototype, "toString", texts.toString);
  hide(Real.prototype, "toTimeString", texts.toTimeString);
  for (const name of ["WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics", "WebAssembly", "Temporal"]) delete globalThis[name];
  delete Real.prototype.toTemporalInstant;
  // A stack shows the places in the program and nothing of this machine.
  const places = (_error, sites) => {
    let text = "";
    for (let index = 0; index < sites.length; index++) {
      const site = sites[index];
      if (site.getFileName() !== "program.js") continue;
      text += `${text === "" ? "" : "\n"}    at ${site.getFunctionName() ?? "<anonymous>"} (program.js:${site.getLineNumber()}:${site.getColumnNumber()})`;
    }
    return text;
  };
  defineProperty(Error, "prepareStackTrace", { __proto__: null, value: freeze(places), writable: false, configurable: false, enumerable: false });
  return {
    setNow: (value) => {
      nowMs = value;
    },
    /** What the other realm throws must not come in. */
    shield: (raw) => (...values) => {
      let answer;
      try {
        answer = apply(raw, undefined, values);
      } catch {
        throw new RangeError("Maximum call stack size exceeded");
      }
      return answer;
    },
    observe: (promise, value, error) => void apply(then, promise, [value, error]),
  };
}

/** The guest's one function to the outside gets what `emitted` of the embedded sandbox's guest-protocol.ts lists. */
const emitted = { tool: 0, builtin: 1, timer: 2, console: 3, text: 4, progress: 5, result: 6, error: 7, resultTooLarge: 8, timerCleared: 9, library: 10, url: 11 };

const urlParts = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

function parseUrl(request) {
  const { input, base, key, value } = JSON.parse(request);
  try {
    const url = base === undefined ? new URL(input) : new URL(input, base);
    if (key !== undefined && key !== "origin") url[key] = value;
    return JSON.stringify(Object.fromEntries(urlParts.map((part) => [part, url[part]])));
  } catch {
    return "null";
  }
}

// -------------------------------------------------------------------------------------------------------------- run

const run = { limits: { argumentBytes: 0, resultBytes: 0 }, main: undefined, isSettled: false, isEnded: false, nextSeq: 0, delivered: 0, open: new Map() };
let world;

/** Whether the program's value is there: what it still does then has no effect. */
function isSettled() {
  if (run.isSettled || run.main === undefined) return run.isSettled;
  run.isSettled = !inspect(run.main, { customInspect: false, depth: 0 }).includes("<pending>");
  return run.isSettled;
}

function end(head, payload) {
  if (run.isEnded) return;
  run.isEnded = true;
  run.isSettled = true;
  send(head, payload);
}

function issue(head, payload, state) {
  if (run.isEnded || isSettled()) return 0;
  const body = encoder.encode(payload);
  if (body.length > run.limits.argumentBytes) return 2;
  send({ ...head, seq: run.nextSeq }, body);
  run.open.set(run.nextSeq, state);
  run.nextSeq += 1;
  return 1;
}

function emit(...said) {
  const [kind, first, second, third] = said;
  switch (kind) {
    case emitted.tool:
      return issue({ k: "call", name: first, tagged: second === 1 }, third, "call");
    case emitted.builtin:
      return issue({ k: "builtin", name: first, tagged: second === 1 }, third, "call");
    case emitted.timer:
      return issue({ k: "timer", delayMs: first }, "", "timer");
    case emitted.timerCleared:
      run.open.set(first, "cleared");
      return undefined;
    case emitted.library:
      return world.libraries[first] ?? "";
    case emitted.url:
      return parseUrl(first);
    default:
      return run.isEnded ? undefined : tell(kind, first, second);
  }
}

function tell(kind, first, second) {
  switch (kind) {
    case emitted.console:
      return send({ k: "console", level: first }, JSON.parse(second));
    case emitted.text:
      return send({ k: "text" }, JSON.parse(first));
    case emitted.progress:
      return send({ k: "progress", message: JSON.parse(first), ...(Number.isNaN(second) ? {} : { fraction: second }) });
    case emitted.result: {
      const body = encoder.encode(second);
      return body.length > run.limits.resultBytes ? end({ k: "limit", limit: "resultBytes" }) : end({ k: "returned", tagged: first === 1 }, body);
    }
    case emitted.resultTooLarge:
      return end({ k: "limit", limit: "resultBytes" });
    default:
      return fail(JSON.parse(first));
  }
}

/** The end of a program that threw: V8 reports some limits as ordinary errors. */
function fail(error) {
  if (error.name === "RangeError" && error.message === "Maximum call stack size exceeded") return end({ k: "limit", limit: "stackKiB" });
  if (error.name === "RangeError" && error.message === "Array buffer allocation failed") return end({ k: "limit", limit: "memoryMiB" });
  return end({ k: "threw", error: { ...error, message: improved(error) } });
}

function improved({ name, message }) {
  if (message === "A dynamic import callback was not specified.") return 'import() is not there; tools are imported with import { name } from "tools", everything else is built in';
  const wanted = name === "ReferenceError" ? /^(.+) is not defined$/.exec(message)?.[1] : undefined;
  return wanted !== undefined && Object.hasOwn(world.missing, wanted) ? `${message}: ${world.missing[wanted]}` : message;
}

/** Takes what the language does not need out of this realm too, should a program ever get here. */
function clearOwnRealm(keep) {
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!keep.has(name)) delete globalThis[name];
}

function start({ head, payload }, { entries, realm, context }) {
  run.limits = head.limits;
  realm.setNow(head.startMs);
  const [defineModules, begin, , settleValue, settleError] = entries;
  defineModules(JSON.stringify(head.modules));
  let program;
  try {
    program = new vm.Script(payload, { filename: programFile }).runInContext(context);
  } catch (error) {
    return end({ k: "threw", error: { name: "SyntaxError", message: `${error?.message}` } });
  }
  try {
    run.main = begin(program, head.seed, head.limits.argumentBytes, head.limits.resultBytes);
    realm.observe(run.main, settleValue, settleError);
  } catch (error) {
    settleError(error);
  }
}

function deliver({ head, payload }, { entries, realm }) {
  const { seq, atMs, error, tagged } = head;
  const state = run.open.get(seq);
  run.open.delete(seq);
  realm.setNow(atMs);
  run.delivered += 1;
  if (state === undefined || state === "cleared") return;
  entries[2](seq, error === undefined ? 0 : 1, tagged === true ? 1 : 0, error === undefined ? payload : JSON.stringify(error));
}

/** Everything the program can do before the next completion is done when this resolves. */
const untilBlocked = () => new Promise((resolve) => setImmediate(resolve));

async function main() {
  const first = receive();
  world = JSON.parse(first.payload);
  const context = vm.createContext(Object.create(null));
  const keep = new Set(vm.runInContext("Object.getOwnPropertyNames(globalThis)", context));
  const realm = vm.runInContext(`(${prepareRealm.toString()})()`, context);
  const boot = vm.runInContext(world.prelude, context, { filename: "callgate" });
  const guest = { context, realm, entries: boot(realm.shield(emit)) };
  clearOwnRealm(keep);
  send({ k: "hello", protocol, language: "javascript", version: engineVersion });
  start(receive(), guest);
  for (;;) {
    await untilBlocked();
    if (run.isEnded) receive();
    else if (![...run.open.values()].some((state) => state !== "cleared")) end({ k: "stalled" });
    else {
      send({ k: "blocked", delivered: run.delivered });
      deliver(receive(), guest);
    }
  }
}

main().catch((error) => {
  end({ k: "threw", error: { name: "Error", message: `The sandbox failed: ${error?.message}` } });
  receive();
});
