import type { GuestEnd, GuestError, RunLimits } from "@callgate/contract";

/** What to use instead of what programs reach for out of habit. */
export const missingGlobals: Readonly<Record<string, string>> = {
  fetch: "a program has no network of its own; call a tool (await tools.search(\"...\") finds one)",
  XMLHttpRequest: "a program has no network of its own; call a tool",
  WebSocket: "a program has no network of its own; call a tool",
  process: "a program has no process or environment; pass what it needs through tools or in the program itself",
  require: "modules cannot be loaded; tools are imported with import { name } from \"tools\", everything else is built in",
  module: "programs are no CommonJS modules; return the result",
  exports: "programs are no CommonJS modules; return the result",
  __dirname: "a program has no files; call a tool that reads them",
  __filename: "a program has no files; call a tool that reads them",
  Buffer: "use Uint8Array with TextEncoder, TextDecoder, atob and btoa",
  global: "the global object is globalThis",
  window: "the global object is globalThis; there is no browser",
  document: "there is no browser and no page",
  self: "the global object is globalThis",
  localStorage: "nothing is kept between programs; return what you need, or read it back with results.read(handle)",
  setImmediate: "use queueMicrotask or setTimeout(callback, 0)",
  performance: "the clock stands still while a program computes; use Date.now()",
  Deno: "programs run in Callgate's own sandbox; call tools",
  Bun: "programs run in Callgate's own sandbox; call tools",
  SharedArrayBuffer: "use ArrayBuffer; a program has one thread",
  Atomics: "a program has one thread",
  WebAssembly: "it is not there; write it in JavaScript",
  Temporal: "use Date",
  Intl: "use toLocaleString(\"en-US\", options) of numbers and dates",
};

/** Whether `error` says that the run is at a limit; the engine reports those as ordinary errors. */
export function endFromError(error: GuestError, limits: RunLimits, outOfMemory: boolean): GuestEnd {
  if (error.name === "InternalError" && error.message === "out of memory" && outOfMemory) return memoryEnd(limits);
  if (error.name === "InternalError" && error.message === "stack overflow") {
    return { kind: "limit", limit: "stackKiB", limitValue: limits.stackKiB, message: `The program's calls nest deeper than its stack of ${limits.stackKiB} KiB: look for a recursion without an end` };
  }
  return { kind: "threw", error: { ...error, message: improved(error) } };
}

export function memoryEnd(limits: RunLimits): GuestEnd {
  return { kind: "limit", limit: "memoryMiB", limitValue: limits.memoryMiB, message: `The program needs more than its ${limits.memoryMiB} MiB of memory: keep less of the data at once, or ask the tools for less` };
}

export function cpuEnd(limits: RunLimits): GuestEnd {
  return { kind: "limit", limit: "cpuMs", limitValue: limits.cpuMs, message: `The program computed for more than its ${limits.cpuMs} ms: look for a loop without an end, or let a tool do the heavy part` };
}

export function resultEnd(limits: RunLimits): GuestEnd {
  return { kind: "limit", limit: "resultBytes", limitValue: limits.resultBytes, message: `The value the program returned is over ${limits.resultBytes} bytes: return less, or a summary of it` };
}

function improved(error: GuestError): string {
  const { name, message } = error;
  if (name === "ReferenceError" && message.startsWith("could not load module")) {
    return `${message}: import() is not there; tools are imported with import { name } from "tools", everything else is built in`;
  }
  const undefinedName = /^'(.+)' is not defined$/.exec(message)?.[1];
  if (name !== "ReferenceError" || undefinedName === undefined) return message;
  const hint = Object.hasOwn(missingGlobals, undefinedName) ? missingGlobals[undefinedName] : undefined;
  return hint === undefined ? `${undefinedName} is not defined` : `${undefinedName} is not defined: ${hint}`;
}
