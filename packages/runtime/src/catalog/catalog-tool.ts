import type { Digest, Effect, Label, LearnedOutput, ParseResult, Source, SourceTool, Tool, ToolHooks, ToolSpec } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { interfaceDigestOf } from "./older-interface.ts";
import type { OlderInterface } from "./older-interface.ts";
import { signatureLine } from "./types/declare-typescript.ts";
import { clip } from "./types/schema-doc.ts";
import { createSchemaValidator } from "./validation/schema-validator.ts";
import type { SchemaValidator } from "./validation/schema-validator.ts";

/** One tool of a catalog. */
export interface CatalogTool {
  /** Qualified identifier, `namespace.member`: what a program writes after `tools.` */
  readonly name: string;
  readonly namespace: string;
  readonly member: string;
  /** Declaration (frozen, with the effective effect) and code. Its `name` is the source's own: what `source.call` takes. */
  readonly tool: Tool;
  /** What programs are checked against and shown: the tool, or its interface of then where it is called as an older version. */
  readonly declared: ToolSpec;
  /** The older version that it is called as. */
  readonly older?: OlderInterface;
  /** Runs it; only the broker calls that. */
  readonly source: Source;
  /** Of everything the source declared, claims included. */
  readonly definitionDigest: Digest;
  /** Of qualified name, schemas and effective effect, as `declared`. */
  readonly interfaceDigest: Digest;
  /**
   * Checks arguments: the JSON Schema, then the author's own schema, which may transform. `undefined` counts as `{}`.
   * Paths are JSON Pointers. At once where there is no author's schema. Rejects only when the author's validator throws.
   */
  validateInput(value: unknown): ParseResult | Promise<ParseResult>;
  /** The same for what the tool returned; anything passes where it declares no output. */
  validateOutput(value: unknown): ParseResult | Promise<ParseResult>;
  /** TypeScript in one line. */
  readonly signature: string;
  /** First sentence of the description. */
  readonly line: string;
  /** The same tool, called as the version that has this interface. Undefined: it keeps none that has. */
  as(interfaceDigest: Digest): CatalogTool | undefined;
}

export interface CatalogToolParts {
  readonly source: Source;
  readonly listed: SourceTool;
  /** As parsed: a plain frozen copy. */
  readonly spec: ToolSpec;
  readonly effect: Effect;
  readonly labels: readonly Label[];
  /** With what the user says of them. */
  readonly sensitive?: ToolSpec["sensitive"];
  readonly detect?: ToolSpec["detect"];
  /** Names of secrets it may be given. */
  readonly secrets: readonly string[];
  readonly namespace: string;
  readonly member: string;
  /** Made for the tool as it is registered. */
  readonly olderOf?: (name: string, tool: ToolSpec) => readonly OlderInterface[];
}

const hookNames = ["handler", "precheck", "summarize", "simulate", "compensate", "reconcile", "poll", "cancelJob", "businessKey", "parseInput", "parseOutput"] as const;

export function createCatalogTool({ source, listed, spec, effect, labels, sensitive, detect, secrets, namespace, member, olderOf }: CatalogToolParts): CatalogTool {
  const tool: Tool = Object.freeze({ ...repeatable(spec, listed), effect, labels, ...(sensitive === undefined ? {} : { sensitive }), ...(detect === undefined ? {} : { detect }), ...(secrets.length === 0 ? {} : { secrets }), ...hooksOf(listed.tool) });
  const name = `${namespace}.${member}`;
  const input = createSchemaValidator(spec.input);
  const output = spec.output === undefined ? undefined : createSchemaValidator(spec.output);
  const definitionDigest = digestOf(spec);
  const line = firstSentence(spec.description === "" ? (spec.title ?? spec.name) : spec.description);
  const own = interfaceDigestOf(name, tool);
  const kept = olderOf?.(name, tool) ?? [];
  const calledAs = (older: OlderInterface | undefined): CatalogTool => {
    let signature: string | undefined;
    const self: CatalogTool = {
      name,
      namespace,
      member,
      tool,
      declared: older?.spec ?? tool,
      ...(older === undefined ? {} : { older }),
      source,
      definitionDigest,
      interfaceDigest: older?.digest ?? own,
      validateInput: (value) => validateBoth(value === undefined ? {} : value, input, tool.parseInput),
      validateOutput: (value) => validateBoth(value, output, tool.parseOutput),
      // Made when first read: most tools of a large catalog are never looked at.
      get signature() {
        signature ??= signatureLine({ member, spec: self.declared });
        return signature;
      },
      line,
      as(digest) {
        if (digest === self.interfaceDigest) return self;
        if (digest === own) return calledAs(undefined);
        const found = kept.find((one) => one.digest === digest);
        return found === undefined ? undefined : calledAs(found);
      },
    };
    return self;
  };
  return calledAs(undefined);
}

/** TypeScript in one line, with what the tool was seen to answer where it declares nothing. */
export function signatureWith(tool: CatalogTool, learned: LearnedOutput | undefined): string {
  return learned === undefined ? tool.signature : signatureLine({ member: tool.member, spec: tool.declared, learned });
}

/** What may be repeated was said of a tool that only reads. Where the user says that it writes, that no longer holds. */
function repeatable(spec: ToolSpec, { settings }: SourceTool): ToolSpec {
  if (spec.retry === undefined || spec.effect !== "read" || (settings?.effect ?? "read") === "read") return spec;
  const { retry: _retry, ...once } = spec;
  return once;
}

/** Either may be missing: there is nothing to check with. */
function validateBoth(value: unknown, bySchema: SchemaValidator | undefined, byAuthor: Tool["parseInput"]): ParseResult | Promise<ParseResult> {
  const first: ParseResult = bySchema?.validate(value) ?? { kind: "ok", value };
  return first.kind === "invalid" || byAuthor === undefined ? first : askAuthor(first, byAuthor);
}

async function askAuthor(first: Extract<ParseResult, { kind: "ok" }>, byAuthor: (value: unknown) => Promise<ParseResult> | ParseResult | undefined): Promise<ParseResult> {
  return (await byAuthor(first.value)) ?? first;
}

/** The hooks of a tool, also when they live on a prototype, bound to it. */
function hooksOf(tool: Tool): ToolHooks {
  const hooks: Record<string, unknown> = {};
  for (const name of hookNames) {
    const hook: unknown = tool[name];
    if (typeof hook === "function") hooks[name] = hook.bind(tool);
  }
  return hooks as unknown as ToolHooks;
}

const maxLineChars = 160;

/** The first sentence of a text, in one line, at most 160 characters. */
function firstSentence(text: string): string {
  const flat = text.trim().split(/\n\s*\n/)[0]?.replace(/\s+/g, " ") ?? "";
  const end = /[.!?。](?=\s|$)/.exec(flat);
  return clip(end === null ? flat : flat.slice(0, end.index + 1), maxLineChars);
}
