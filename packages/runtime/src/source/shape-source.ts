import { ToolError } from "@callgate/contract";
import type { Label, Source, SourceListing, SourceOptions, SourcePassThrough, SourceProblem, SourceTool, Tool, ToolSettings } from "@callgate/contract";
import { identifierOf, maxNameChars } from "../catalog/naming.ts";
import { segmentMatches } from "../lib/name-glob.ts";
import { nearestNames } from "../lib/nearest-names.ts";

/**
 * A source as its user wants it: tools left out, renamed, and with the user's word on what they do. Closing it closes the
 * source.
 *
 * What the user says beside the name is handed on apart from the tools (`SourceTool.settings`), so that definitions stay
 * those of the source. A tool that is left out cannot be called either.
 */
export function shapeSource(source: Source, options: SourceOptions): Source {
  /** Names as given out, to the source's own. */
  const ownNames = new Map<string, string>();
  return {
    namespace: source.namespace,
    kind: source.kind,
    get purpose() {
      return options.purpose ?? source.purpose;
    },
    get state() {
      return source.state;
    },
    async list(signal) {
      const listing = shapeListing(await source.list(signal), options);
      ownNames.clear();
      for (const { ownName, listed } of listing.tools) ownNames.set(listed.tool.name, ownName);
      return { tools: listing.tools.map(({ listed }) => listed), problems: listing.problems };
    },
    call(name, args, context) {
      const own = ownNames.get(name) ?? name;
      const exists = isAllowed(own, options) && (ownNames.has(name) || newName(own, options) === own);
      if (!exists) return Promise.reject(new ToolError({ code: "TOOL_NOT_FOUND", message: `No tool "${name}" in "${source.namespace}"`, notApplied: true }));
      return source.call(own, args, context);
    },
    onChange: (listener) => source.onChange(listener),
    close: () => source.close(),
    ...(source.passThrough === undefined ? {} : { passThrough: labelled(source.passThrough, options.labels?.["*"] ?? []) }),
  };
}

interface ShapedListing {
  readonly tools: readonly { readonly ownName: string; readonly listed: SourceTool }[];
  readonly problems: readonly SourceProblem[];
}

function shapeListing({ tools, problems }: SourceListing, options: SourceOptions): ShapedListing {
  // What has no name cannot be meant here; the catalog says what is wrong with it.
  const named = tools.map((listed) => ({ listed, ownName: nameOf(listed) }));
  const kept = named.filter(({ ownName }) => ownName === undefined || isAllowed(ownName, options));
  return {
    tools: kept.map(({ listed, ownName }) => (ownName === undefined ? { ownName: "", listed } : { ownName, listed: shapeTool(listed, ownName, options) })),
    problems: [...problems, ...unknownNames(named.flatMap(({ ownName }) => ownName ?? []), options)],
  };
}

function nameOf({ tool }: SourceTool): string | undefined {
  const name: unknown = (tool as { readonly name?: unknown } | null | undefined)?.name;
  return typeof name === "string" ? name : undefined;
}

function shapeTool(listed: SourceTool, ownName: string, options: SourceOptions): SourceTool {
  const effect = wordsOn(options.effects, ownName).at(-1);
  const labels = [...new Set(wordsOn(options.labels, ownName).flat())];
  const sensitive = [...new Set(wordsOn(options.sensitive, ownName).flat())];
  const detect = Object.assign({}, ...wordsOn(options.detect, ownName)) as NonNullable<ToolSettings["detect"]>;
  const settings: ToolSettings = {
    ...(effect === undefined ? {} : { effect }),
    ...(labels.length === 0 ? {} : { labels }),
    ...(sensitive.length === 0 ? {} : { sensitive }),
    ...(Object.keys(detect).length === 0 ? {} : { detect }),
  };
  const name = newName(ownName, options);
  // Hooks may live on a prototype.
  const tool = name === ownName ? listed.tool : (Object.assign(Object.create(Object.getPrototypeOf(listed.tool) as object | null), listed.tool, { name }) as Tool);
  return { tool, claimed: listed.claimed && options.trusted !== true, ...(Object.keys(settings).length === 0 ? {} : { settings }) };
}

function isAllowed(name: string, { allow, deny = [] }: SourceOptions): boolean {
  return (allow === undefined || allow.some((pattern) => means(pattern, name))) && !deny.some((pattern) => means(pattern, name));
}

function newName(name: string, { rename = {} }: SourceOptions): string {
  const key = [name, identifier(name)].find((one) => Object.hasOwn(rename, one));
  return (key === undefined ? undefined : rename[key]) ?? name;
}

function means(pattern: string, name: string): boolean {
  return segmentMatches(pattern, name) || segmentMatches(pattern, identifier(name));
}

/** A name that can be none is told by the catalog. */
function identifier(name: string): string {
  return name === "" || name.length > maxNameChars ? name : identifierOf(name, "tool");
}

/** What is said of a tool, the nearest last. */
function wordsOn<Word>(said: Readonly<Record<string, Word>> = {}, name: string): readonly Word[] {
  const meant = Object.entries(said).filter(([pattern]) => means(pattern, name));
  return [...meant.filter(([pattern]) => pattern.includes("*")), ...meant.filter(([pattern]) => !pattern.includes("*"))].map(([, word]) => word);
}

function unknownNames(names: readonly string[], options: SourceOptions): readonly SourceProblem[] {
  const { allow = [], deny = [], rename = {}, effects = {}, labels = {}, sensitive = {}, detect = {} } = options;
  const said: readonly (readonly [string, readonly string[]])[] = [
    ["allow names", allow],
    ["deny names", deny],
    ["a new name is given to", Object.keys(rename)],
    ["an effect is set for", Object.keys(effects)],
    ["labels are set for", Object.keys(labels)],
    ["what is sensitive is set for", Object.keys(sensitive)],
    ["detectors are set for", Object.keys(detect)],
  ];
  const known = new Set(names.flatMap((name) => [name, identifier(name)]));
  return said.flatMap(([what, patterns]) =>
    patterns.flatMap((pattern) => {
      if (pattern === "*" || names.some((name) => means(pattern, name))) return [];
      const [nearest] = nearestNames(pattern, known, 1);
      return [{ message: `${what} "${pattern}", which is no tool of it${nearest === undefined ? "" : `; did you mean "${nearest}"?`}` }];
    }),
  );
}

function labelled(source: SourcePassThrough, labels: readonly Label[]): SourcePassThrough {
  return {
    labels: [...new Set([...(source.labels ?? []), ...labels])],
    listResources: (signal) => source.listResources(signal),
    listResourceTemplates: (signal) => source.listResourceTemplates(signal),
    readResource: (uri, signal) => source.readResource(uri, signal),
    listPrompts: (signal) => source.listPrompts(signal),
    getPrompt: (name, args, signal) => source.getPrompt(name, args, signal),
  };
}
