import type { Digest, ToolSpec } from "@callgate/contract";
import { misfitsOf } from "./types/compare-types.ts";
import type { Misfit, NamedTypes } from "./types/compare-types.ts";
import { signatureLine } from "./types/declare-typescript.ts";
import { namespaceTypes } from "./types/tool-types.ts";
import type { TypeNode } from "./types/type-node.ts";

/** A tool as it is, or was. */
export interface KeptTool {
  /** Qualified identifier. */
  readonly name: string;
  readonly spec: ToolSpec;
  readonly definitionDigest: Digest;
  readonly interfaceDigest: Digest;
}

/**
 * What became of a tool. `redeclared`: what is said of it has changed (description, limits, errors), its interface has not.
 */
export interface ToolChange {
  readonly tool: string;
  readonly kind: "added" | "removed" | "changed" | "redeclared";
  /** TypeScript, in one line. */
  readonly before?: string;
  readonly after?: string;
  /** What no longer holds for those who were checked against it before, as types: empty where all of them still fit. */
  readonly breaks: readonly string[];
}

/** What differs between two lists of tools of one namespace, in the order of their names. */
export function compareTools(before: readonly KeptTool[], after: readonly KeptTool[]): readonly ToolChange[] {
  const [then, now] = [byName(before), byName(after)];
  return [...new Set([...then.keys(), ...now.keys()])].sort().flatMap((tool): readonly ToolChange[] => {
    const [was, is] = [then.get(tool), now.get(tool)];
    if (was === undefined) return is === undefined ? [] : [{ tool, kind: "added", after: signatureOf(is), breaks: [] }];
    if (is === undefined) return [{ tool, kind: "removed", before: signatureOf(was), breaks: ["it is gone"] }];
    if (was.interfaceDigest !== is.interfaceDigest) return [{ tool, kind: "changed", before: signatureOf(was), after: signatureOf(is), breaks: breaksBetween(was, is) }];
    return was.definitionDigest === is.definitionDigest ? [] : [{ tool, kind: "redeclared", breaks: [] }];
  });
}

function byName(tools: readonly KeptTool[]): ReadonlyMap<string, KeptTool> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function memberOf({ name }: KeptTool): string {
  return name.slice(name.indexOf(".") + 1);
}

function signatureOf(tool: KeptTool): string {
  return signatureLine({ member: memberOf(tool), spec: tool.spec });
}

interface Sides {
  readonly input: NamedTypes;
  readonly output: NamedTypes;
}

const unknownType: TypeNode = { kind: "unknown" };

function typesOf(tool: KeptTool): Sides {
  const types = namespaceTypes([{ member: memberOf(tool), spec: tool.spec }]);
  const named = new Map(types.named.map(({ name, type }) => [name, type]));
  const [own] = types.tools;
  return { input: { type: own?.input ?? unknownType, named }, output: { type: own?.output ?? unknownType, named } };
}

/** Callers give the input and read the output: what they gave has to fit what is taken, and what is given what they read. */
function breaksBetween(was: KeptTool, is: KeptTool): readonly string[] {
  const [then, now] = [typesOf(was), typesOf(is)];
  const effects = ["read", "write", "destructive"] as const;
  const stronger = effects.indexOf(is.spec.effect) > effects.indexOf(was.spec.effect);
  return [
    ...(stronger ? [`effect: it is ${is.spec.effect} now, and was ${was.spec.effect}`] : []),
    ...misfitsOf(then.input, now.input, { isStrict: true }).map((misfit) => `input${misfit.path}: ${inputText(misfit)}`),
    ...misfitsOf(now.output, then.output, { isStrict: false }).map((misfit) => `output${misfit.path}: ${outputText(misfit)}`),
  ];
}

/** `is`: what callers gave; `wanted`: what is taken now. */
function inputText({ kind, is, wanted }: Misfit): string {
  switch (kind) {
    case "unknown_property":
      return "is not taken any more";
    case "missing":
      return `has to be given now: ${wanted}`;
    case "optional":
      return "has to be given now, and could be left out";
    case "type":
      return `takes ${wanted} now, and took ${is}`;
  }
}

/** `is`: what is answered now; `wanted`: what callers read. */
function outputText({ kind, is, wanted }: Misfit): string {
  switch (kind) {
    case "unknown_property":
      return "is new";
    case "missing":
      return `is gone: ${wanted}`;
    case "optional":
      return "may be missing now";
    case "type":
      return `is ${is} now, and was ${wanted}`;
  }
}
