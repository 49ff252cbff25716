import type { DetectorSwitches, SensitiveMark } from "@callgate/contract";
import { unescapePointer } from "../lib/json-pointer.ts";

/** Sensitive places below one place of a value. */
export interface PointerTree {
  /** The value here is sensitive as a whole. */
  readonly isSensitive: boolean;
  /** What is switched here and below; undefined: nothing. */
  readonly detect: DetectorSwitches | undefined;
  /** The tree below a property or item; undefined when nothing there is sensitive or switched. */
  below(key: string): PointerTree | undefined;
}

interface MarkedPath {
  readonly tokens: readonly string[];
  readonly detect?: DetectorSwitches;
}

/**
 * Reads JSON Pointers (RFC 6901) into a tree. The token `*` stands for every item and every property. A text that is no
 * pointer marks everything: hiding too much is the safe mistake. Of switches those further down count, and of those at one
 * place the later ones.
 */
export function pointerTree(marks: readonly SensitiveMark[]): PointerTree | undefined {
  if (marks.length === 0) return undefined;
  return treeOf(
    marks.map((mark) => (typeof mark === "string" ? { tokens: tokensOf(mark) } : { tokens: tokensOf(mark.pointer), detect: mark.detect })),
    undefined,
  );
}

function tokensOf(pointer: string): readonly string[] {
  return pointer.startsWith("/") ? pointer.slice(1).split("/").map(unescapePointer) : [];
}

function treeOf(paths: readonly MarkedPath[], inherited: DetectorSwitches | undefined): PointerTree | undefined {
  if (paths.length === 0 && inherited === undefined) return undefined;
  const here = paths.filter(({ tokens }) => tokens.length === 0);
  const detect = here.reduce<DetectorSwitches | undefined>((all, path) => (path.detect === undefined ? all : { ...all, ...path.detect }), inherited);
  return {
    isSensitive: here.some((path) => path.detect === undefined),
    detect,
    below: (key) => treeOf(paths.filter(({ tokens: [token] }) => token === key || token === "*").map((path) => ({ ...path, tokens: path.tokens.slice(1) })), detect),
  };
}
