import { ToolError } from "@callgate/contract";
import type { JsonObject, Label, Source, SourceListing, SourceOptions, SourcePassThrough, SourceProblem, SourceTool, Tool, ToolSettings } from "@callgate/contract";
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
      const exists = ownNames.has(name) || (isAllowed({ name: own, tags: undefined }, options) && newName(own, options) === own);
      if (!exists) return Promise.reject(new ToolError({ code: "TOOL_NOT_FOUND", message: `No tool "${name}" in "${source.namespace}"`, notApplied: true }));
      return source.call(own, args, context);
    },
    onChange: (listener) => source.onChange(listener),
    close: () => source.close(),
    ...(source.passThrough === undefined ? {} : { passThrough: shapePassThrough(source.passThrough, options) }),
  };
}

interface ShapedListing {
  readonly tools: readonly { readonly ownName: string; readonly listed: SourceTool }[];
  readonly problems: readonly SourceProblem[];
}

function shapeListing({ tools, problems }: SourceListing, options: SourceOptions): ShapedListing {
  // What has no name cannot be meant here; the catalog says what is wrong with it.
  const named = tools.map((listed) => ({ listed, ownName: nameOf(listed) }));
  const kept = named.filter(({ ownName, listed }) => ownName === undefined || isAllowed({ name: ownName, tags: tagsOf(listed) }, options));
  return {
    tools: kept.map(({ listed, ownName }) => (ownName === undefined ? { ownName: "", listed } : { ownName, listed: shapeTool(listed, ownName, options) })),
    problems: [...problems, ...unknownNames(named.flatMap(({ ownName, listed }) => (ownName === undefined ? [] : [{ name: ownName, tags: tagsOf(listed) }])), options)],
  };
}

function nameOf({ tool }: SourceTool): string | undefined {
  const name: unknown = (tool as { readonly name?: unknown } | null | undefined)?.name;
  return typeof name === "string" ? name : undefined;
}

/** A tool as the user's patterns mean it. `tags` is undefined for one that was not listed: nothing is known of them. */
interface MeantTool {
  readonly name: string;
  readonly tags: readonly string[] | undefined;
}

function tagsOf({ tool }: SourceTool): readonly string[] {
  const tags: unknown = (tool as { readonly tags?: unknown } | null | undefined)?.tags;
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
}

function shapeTool(listed: SourceTool, ownName: string, options: SourceOptions): SourceTool {
  const meant: MeantTool = { name: ownName, tags: tagsOf(listed) };
  const effect = wordsOn(options.effects, meant).at(-1);
  const labels = [...new Set(wordsOn(options.labels, meant).flat())];
  const sensitive = [...new Set(wordsOn(options.sensitive, meant).flat())];
  const detect = Object.assign({}, ...wordsOn(options.detect, meant)) as NonNullable<ToolSettings["detect"]>;
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

function isAllowed(tool: MeantTool, { allow, deny = [] }: SourceOptions): boolean {
  const isUnknown = tool.tags === undefined && deny.some((pattern) => pattern.startsWith(tagPrefix));
  return !isUnknown && (allow === undefined || allow.some((pattern) => means(pattern, tool))) && !deny.some((pattern) => means(pattern, tool));
}

function newName(name: string, { rename = {} }: SourceOptions): string {
  const key = [name, identifier(name)].find((one) => Object.hasOwn(rename, one));
  return (key === undefined ? undefined : rename[key]) ?? name;
}

/** Before a pattern that means tags. No name of a tool can be an identifier with a colon, and a source's own name seldom begins so. */
const tagPrefix = "tag:";

function means(pattern: string, { name, tags = [] }: MeantTool): boolean {
  if (pattern.startsWith(tagPrefix)) return tags.some((tag) => segmentMatches(pattern.slice(tagPrefix.length), tag));
  return segmentMatches(pattern, name) || segmentMatches(pattern, identifier(name));
}

/** Definitions of a protocol of its own have no tags. */
function shapeDefinition(definition: JsonObject, options: SourceOptions): readonly JsonObject[] {
  const { name } = definition;
  if (typeof name !== "string" || !isAllowed({ name, tags: [] }, options)) return [];
  return [{ ...definition, name: newName(name, options) }];
}

/** A name that can be none is told by the catalog. */
function identifier(name: string): string {
  return name === "" || name.length > maxNameChars ? name : identifierOf(name, "tool");
}

/** What is said of a tool, the nearest last. */
function wordsOn<Word>(said: Readonly<Record<string, Word>> = {}, tool: MeantTool): readonly Word[] {
  const meant = Object.entries(said).filter(([pattern]) => means(pattern, tool));
  const isWide = ([pattern]: readonly [string, Word]): boolean => pattern.includes("*") || pattern.startsWith(tagPrefix);
  return [...meant.filter(isWide), ...meant.filter((one) => !isWide(one))].map(([, word]) => word);
}

function unknownNames(tools: readonly MeantTool[], options: SourceOptions): readonly SourceProblem[] {
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
  const known = new Set(tools.flatMap(({ name, tags = [] }) => [name, identifier(name), ...tags.map((tag) => `${tagPrefix}${tag}`)]));
  return said.flatMap(([what, patterns]) =>
    patterns.flatMap((pattern) => {
      if (pattern === "*" || tools.some((tool) => means(pattern, tool))) return [];
      const [nearest] = nearestNames(pattern, known, 1);
      return [{ message: `${what} "${pattern}", which is ${pattern.startsWith(tagPrefix) ? "a tag of none of its tools" : "no tool of it"}${nearest === undefined ? "" : `; did you mean "${nearest}"?`}` }];
    }),
  );
}

function shapePassThrough(source: SourcePassThrough, options: SourceOptions): SourcePassThrough {
  const labels: readonly Label[] = [...(source.labels ?? []), ...(options.labels?.["*"] ?? [])];
  return {
    labels: [...new Set(labels)],
    ...(source.listTools === undefined ? {} : { listTools: async (signal) => ((await source.listTools?.(signal)) ?? []).flatMap((tool) => shapeDefinition(tool, options)) }),
    listResources: (signal) => source.listResources(signal),
    listResourceTemplates: (signal) => source.listResourceTemplates(signal),
    readResource: (uri, signal) => source.readResource(uri, signal),
    listPrompts: (signal) => source.listPrompts(signal),
    getPrompt: (name, args, signal) => source.getPrompt(name, args, signal),
    ...(source.notices === undefined ? {} : { notices: source.notices }),
  };
}
