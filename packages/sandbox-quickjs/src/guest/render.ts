import { charCodeAt, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, hasPrototype, isArray, ownKeys, slice, stringify, uncurry } from "./intrinsics.ts";

/** Containers nested deeper are named, not shown. */
const maxDepth = 4;
const maxItems = 100;
const maxStringChars = 10_000;
/** A whole console entry. */
const maxChars = 16_384;

const dateIso = uncurry(Date.prototype.toISOString);
const mapForEach = uncurry(Map.prototype.forEach);
const setForEach = uncurry(Set.prototype.forEach);
const regExpText = uncurry(RegExp.prototype.toString);
const symbolText = uncurry(Symbol.prototype.toString);
const getOf = (prototype: object, key: PropertyKey) => uncurry(getOwnPropertyDescriptor(prototype, key)?.get as () => unknown);
const mapSize = getOf(Map.prototype, "size");
const setSize = getOf(Set.prototype, "size");
const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype) as object;
const viewTag = getOf(TypedArrayPrototype, Symbol.toStringTag);
const viewLength = getOf(TypedArrayPrototype, "length");
const bufferBytes = getOf(ArrayBuffer.prototype, "byteLength");
const { isView } = ArrayBuffer;
const ErrorPrototype = Error.prototype;
const PromisePrototype = Promise.prototype;

interface Frame {
  readonly parent: Frame | undefined;
  readonly value: object;
  readonly depth: number;
}

/**
 * Shows a value as a REPL would. Runs no getter and no toString of the program; what a proxy throws is shown as
 * unreadable. The text is bounded.
 */
export function render(value: unknown): string {
  const text = typeof value === "string" ? value : show(value, undefined);
  return text.length <= maxChars ? text : `${slice(text, 0, maxChars)}… (${text.length - maxChars} more characters)`;
}

/** A console line: a first text with %s, %d, %i, %f, %j, %o, %O or %c takes the values after it. */
export function renderAll(values: readonly unknown[]): string {
  let text = "";
  let used = 0;
  const first = values.length > 0 ? values[0] : undefined;
  if (typeof first === "string" && values.length > 1) {
    used = 1;
    for (let index = 0; index < first.length; index++) {
      const spec = slice(first, index + 1, index + 2);
      const isSpec = charCodeAt(first, index) === 37 && spec !== "";
      if (isSpec && spec === "%") text += "%";
      else if (isSpec && used < values.length && isFormat(spec)) text += format(spec, values[used++]);
      else {
        text += slice(first, index, index + 1);
        continue;
      }
      index += 1;
    }
  }
  for (let index = used; index < values.length; index++) text += (index === 0 ? "" : " ") + render(values[index]);
  return text.length <= maxChars ? text : `${slice(text, 0, maxChars)}… (${text.length - maxChars} more characters)`;
}

function isFormat(spec: string): boolean {
  return spec === "s" || spec === "d" || spec === "i" || spec === "f" || spec === "j" || spec === "o" || spec === "O" || spec === "c";
}

function format(spec: string, value: unknown): string {
  if (spec === "c") return "";
  if (spec === "s" || typeof value !== "number" || spec === "f" || spec === "d") return render(value);
  return spec === "i" ? `${value < 0 ? -Math.floor(-value) : Math.floor(value)}` : show(value, undefined);
}

function show(value: unknown, frame: Frame | undefined): string {
  switch (typeof value) {
    case "string":
      return value.length <= maxStringChars ? stringify(value) : `${stringify(slice(value, 0, maxStringChars))}… (${value.length - maxStringChars} more characters)`;
    case "number":
      return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
    case "bigint":
      return `${value}n`;
    case "symbol":
      return symbolText(value);
    case "function":
      return showFunction(value);
    case "object":
      return value === null ? "null" : showGuarded(value, frame);
    case "boolean":
    case "undefined":
      return `${value}`;
  }
}

function showFunction(value: object): string {
  try {
    const name: unknown = getOwnPropertyDescriptor(value, "name")?.value;
    return typeof name === "string" && name !== "" ? `[Function: ${name}]` : "[Function (anonymous)]";
  } catch {
    return "[Function]";
  }
}

function showGuarded(value: object, parent: Frame | undefined): string {
  for (let at = parent; at !== undefined; at = at.parent) if (at.value === value) return "[Circular]";
  const frame: Frame = { parent, value, depth: parent === undefined ? 0 : parent.depth + 1 };
  try {
    return showObject(value, frame);
  } catch {
    return "[unreadable]";
  }
}

function showObject(value: object, frame: Frame): string {
  if (isArray(value)) return frame.depth >= maxDepth ? `[Array(${value.length})]` : showArray(value, frame);
  if (hasPrototype(value, ErrorPrototype)) return showError(value, frame);
  if (isView(value)) return showView(value);
  const branded = showBranded(value, frame);
  if (branded !== undefined) return branded;
  const prefix = className(value);
  if (frame.depth >= maxDepth) return `[${prefix === "" ? "Object" : prefix}]`;
  const body = showProperties(value, frame, ownKeys(value));
  return `${prefix === "" ? "" : `${prefix} `}${body === "" ? "{}" : `{ ${body} }`}`;
}

/** Empty for plain objects. */
function className(value: object): string {
  const prototype = getPrototypeOf(value) as object | null;
  if (prototype === null) return "[Object: null prototype]";
  if (prototype === Object.prototype) return "";
  const constructor: unknown = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  if (typeof constructor !== "function") return "Object";
  const name: unknown = getOwnPropertyDescriptor(constructor, "name")?.value;
  return typeof name === "string" && name !== "" ? name : "Object";
}

function showProperties(value: object, frame: Frame, names: readonly PropertyKey[]): string {
  let text = "";
  let shown = 0;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as PropertyKey;
    const property = getOwnPropertyDescriptor(value, name);
    if (property === undefined || property.enumerable !== true) continue;
    if (shown === maxItems) return `${text}, … ${names.length - index} more`;
    const label = typeof name === "symbol" ? `[${symbolText(name)}]` : isIdentifier(name as string) ? (name as string) : stringify(name as string);
    const item = hasOwn(property, "value") ? show(property.value, frame) : property.get === undefined ? "[Setter]" : "[Getter]";
    text += `${shown === 0 ? "" : ", "}${label}: ${item}`;
    shown += 1;
  }
  return text;
}

function isIdentifier(name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    const code = charCodeAt(name, index);
    const letter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 36;
    if (!letter && !(index > 0 && code >= 48 && code <= 57)) return false;
  }
  return name !== "";
}

function showArray(value: readonly unknown[], frame: Frame): string {
  if (value.length === 0) return "[]";
  let text = "";
  let holes = 0;
  const shown = value.length < maxItems ? value.length : maxItems;
  const add = (item: string): void => {
    text += (text === "" ? "" : ", ") + item;
  };
  for (let index = 0; index < shown; index++) {
    const property = getOwnPropertyDescriptor(value, index);
    if (property === undefined) holes += 1;
    if (holes > 0 && (property !== undefined || index === shown - 1)) add(`<${holes} empty>`);
    if (property === undefined) continue;
    holes = 0;
    add(hasOwn(property, "value") ? show(property.value, frame) : "[Getter]");
  }
  return shown < value.length ? `[ ${text}, … ${value.length - shown} more ]` : `[ ${text} ]`;
}

function showError(value: object, frame: Frame): string {
  const read = (key: string): string | undefined => {
    for (let at: object | null = value; at !== null; at = getPrototypeOf(at) as object | null) {
      const property = getOwnPropertyDescriptor(at, key);
      if (property !== undefined) return typeof property.value === "string" ? property.value : undefined;
    }
    return undefined;
  };
  const message = read("message") ?? "";
  const head = `${read("name") ?? "Error"}${message === "" ? "" : `: ${message}`}`;
  const stack = frame.depth === 0 ? (read("stack") ?? "") : "";
  const extra = showProperties(value, frame, ownKeys(value));
  return `${head}${stack === "" ? "" : `\n${stack}`}${extra === "" ? "" : ` { ${extra} }`}`;
}

function showView(value: object): string {
  const kind = viewTag(value);
  if (typeof kind !== "string") return "DataView";
  const length = viewLength(value) as number;
  let text = "";
  for (let index = 0; index < length && index < maxItems; index++) text += (index === 0 ? "" : ", ") + show((value as Uint8Array)[index], undefined);
  return `${kind}(${length}) [${text === "" ? "" : ` ${text}${length > maxItems ? `, … ${length - maxItems} more` : ""} `}]`;
}

function showBranded(value: object, frame: Frame): string | undefined {
  try {
    return dateIso(value);
  } catch {}
  try {
    return `Map(${mapSize(value) as number}) ${showEntries(frame, (add) => mapForEach(value, ((item: unknown, key: unknown) => add(`${show(key, frame)} => ${show(item, frame)}`)) as never))}`;
  } catch {}
  try {
    return `Set(${setSize(value) as number}) ${showEntries(frame, (add) => setForEach(value, ((item: unknown) => add(show(item, frame))) as never))}`;
  } catch {}
  try {
    return `ArrayBuffer { byteLength: ${bufferBytes(value) as number} }`;
  } catch {}
  if (hasPrototype(value, RegExp.prototype)) return regExpText(value);
  return hasPrototype(value, PromisePrototype) ? "Promise {}" : undefined;
}

function showEntries(frame: Frame, each: (add: (item: string) => void) => void): string {
  if (frame.depth >= maxDepth) return "{ … }";
  let text = "";
  let count = 0;
  each((item) => {
    count += 1;
    if (count <= maxItems) text += (text === "" ? "" : ", ") + item;
  });
  if (count === 0) return "{}";
  return `{ ${text}${count > maxItems ? `, … ${count - maxItems} more` : ""} }`;
}
