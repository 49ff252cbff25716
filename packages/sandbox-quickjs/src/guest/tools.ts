import type { GuestModule } from "@callgate/contract";
import { emitted } from "../guest-protocol.ts";
import type { Calls } from "./calls.ts";
import { SafeProxy, create, defineProperty, freeze, keys, uncurry } from "./intrinsics.ts";
import { nearestName } from "./nearest.ts";
import { ToolError } from "./tool-error.ts";

/** What code asks any object for without meaning a tool: `await tools`, JSON.stringify(tools), `${tools}`, ... */
const neverTools: ReadonlySet<string> = new Set([
  "then", "toJSON", "constructor", "prototype", "toString", "valueOf", "toLocaleString", "length", "hasOwnProperty", "isPrototypeOf",
  "propertyIsEnumerable", "inspect", "nodeType", "$$typeof", "asymmetricMatch", "__proto__", "__defineGetter__", "__defineSetter__",
  "__lookupGetter__", "__lookupSetter__",
]);
const isNeverTool = uncurry(Set.prototype.has);

/**
 * Makes `tools`: a frozen object of frozen namespaces of stubs, own properties only. Behind each stands a prototype
 * that answers for what is not there: a name that could be meant as a tool throws TOOL_NOT_FOUND with the nearest one;
 * `then`, `constructor` and their like, and symbols, are undefined; `in` and key listings see nothing of it.
 */
export function createTools(calls: Calls, modules: readonly GuestModule[]): object {
  const tools = objectWithGuard("");
  for (let index = 0; index < modules.length; index++) {
    const { namespace, tools: names, open } = modules[index] as GuestModule;
    const members = open === true ? openNamespace(calls, namespace) : objectWithGuard(namespace);
    for (let member = 0; member < names.length; member++) define(members, names[member] as string, stub(calls, `${namespace}.${names[member] as string}`));
    define(tools, namespace, freeze(members));
  }
  define(tools, "search", (query: unknown, options?: object) => calls.issue(emitted.builtin, "search", withOptions({ query }, options)));
  define(tools, "describe", (names: unknown) => calls.issue(emitted.builtin, "describe", { names: typeof names === "string" ? [names] : names }));
  define(tools, "sleep", createSleep(calls));
  define(tools, "waitFor", createWaitFor(calls));
  return freeze(tools);
}

/** Reader of results kept by earlier runs. */
export function createResults(calls: Calls): object {
  return freeze({
    read: (handle: unknown, options?: object) => calls.issue(emitted.builtin, "read_result", withOptions({ handle }, options)),
  });
}

/** `sleep(ms)` or `sleep(date)`: the run may be suspended meanwhile. */
export function createSleep(calls: Calls): (until: unknown) => Promise<unknown> {
  return function sleep(until: unknown) {
    return calls.issue(emitted.builtin, "sleep", typeof until === "number" ? { ms: until } : { untilMs: timeOf(until) });
  };
}

/** `waitFor(event, options?)`: what somebody outside sends to the run under that name. */
export function createWaitFor(calls: Calls): (event: unknown, options?: object) => Promise<unknown> {
  return function waitFor(event: unknown, options?: object) {
    return calls.issue(emitted.builtin, "wait_for", withOptions({ event }, options));
  };
}

const getTime = uncurry(Date.prototype.getTime);

/** Of a Date; anything else is passed on, and refused by the host. */
function timeOf(until: unknown): unknown {
  try {
    return getTime(until as Date);
  } catch {
    return until;
  }
}

function withOptions(base: object, options: object | undefined): object {
  return options === undefined ? base : { ...options, ...base };
}

function define(target: object, name: string, value: unknown): void {
  defineProperty(target, name, { __proto__: null, value, enumerable: true, writable: false, configurable: false } as PropertyDescriptor);
}

function stub(calls: Calls, tool: string): (args?: unknown) => Promise<unknown> {
  const call = (args: unknown = {}): Promise<unknown> => calls.issue(emitted.tool, tool, args);
  defineProperty(call, "name", { __proto__: null, value: tool, configurable: false } as PropertyDescriptor);
  defineProperty(call, "pages", { __proto__: null, value: (args?: object) => pagesOf(call, tool, args), configurable: false } as PropertyDescriptor);
  return freeze(call);
}

/** The pages of a paged tool, one call each: every answer holds the arguments of the next. */
async function* pagesOf(call: (args: unknown) => Promise<unknown>, tool: string, args: object = {}): AsyncGenerator<unknown, void> {
  for (let turn: object | undefined = args; turn !== undefined; ) {
    const { page, next } = ((await call(turn)) ?? {}) as { readonly page?: unknown; readonly next?: object | null };
    if (page === undefined) throw new ToolError({ code: "INVALID_INPUT", tool, message: `${tool} does not give its result in pages; call it alone`, details: {} });
    yield page;
    turn = next === undefined || next === null ? undefined : { ...args, ...next };
  }
}

/** Its tools are not known: whichever is asked for, the host answers the call, and says why it cannot be made. */
function openNamespace(calls: Calls, namespace: string): object {
  return create(
    new SafeProxy(freeze(create(null) as object), {
      __proto__: null,
      get: (_target, key) => (typeof key === "symbol" || isNeverTool(neverTools, key as never) ? undefined : stub(calls, `${namespace}.${key}`)),
    } as ProxyHandler<object>),
  ) as object;
}

function objectWithGuard(namespace: string): object {
  const object: object = create(
    new SafeProxy(freeze(create(null) as object), {
      __proto__: null,
      get(_target, key) {
        if (typeof key === "symbol" || isNeverTool(neverTools, key as never)) return undefined;
        return notFound(namespace, key, keys(object));
      },
    } as ProxyHandler<object>),
  ) as object;
  return object;
}

function notFound(namespace: string, member: string, names: readonly string[]): never {
  const tool = namespace === "" ? member : `${namespace}.${member}`;
  const nearest = nearestName(member, names);
  const what = namespace === "" ? `There is no namespace "${member}" in tools` : `There is no tool "${member}" in tools.${namespace}`;
  const hint = nearest === undefined ? "; find tools with await tools.search(\"what it should do\")" : `; did you mean "${nearest}"?`;
  throw new ToolError({ code: "TOOL_NOT_FOUND", tool, message: what + hint, details: nearest === undefined ? {} : { nearest: [nearest] } });
}
