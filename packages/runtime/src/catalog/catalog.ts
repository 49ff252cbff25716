import { CallgateError } from "@callgate/contract";
import type { Digest, Effect, FoundNamespace, Label, NamespaceDeclaration, SearchIndexStore, SecretVault, Source, SourceListing, SourceTool, ToolSettings, ToolSpec, UnavailableNamespace } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { nearestNames } from "../lib/nearest-names.ts";
import { createCatalogTool } from "./catalog-tool.ts";
import type { CatalogTool, CatalogToolParts } from "./catalog-tool.ts";
import { createDeclaring } from "./declare-namespaces.ts";
import type { DeclarationForm } from "./declare-namespaces.ts";
import { identifierOf } from "./naming.ts";
import { createOlderInterface } from "./older-interface.ts";
import type { Scope } from "./search/scope.ts";
import { createSearchIndex } from "./search/search-index.ts";
import type { SearchIndex } from "./search/search-index.ts";
import type { ToolVectors } from "./search/tool-vectors.ts";
import { words } from "./search/words.ts";
import type { LearnedOutputs, LearnedType } from "./learned/learned-outputs.ts";
import { createSpecParser } from "./validation/parse-spec.ts";
import type { SpecParser } from "./validation/parse-spec.ts";

/** What one source brings to a catalog. */
export interface CatalogListing {
  readonly source: Source;
  readonly listing: SourceListing;
  /** In place of the source's own namespace. */
  readonly namespace?: string;
}

export interface CatalogNamespace {
  readonly namespace: string;
  readonly source: Source;
  readonly purpose?: string;
}

/**
 * Which tools the asker may know of. What is not visible does not exist: it is not found, not counted, not suggested. The same
 * function always says the same of a tool.
 */
export type Visible = (tool: CatalogTool) => boolean;

export interface CatalogSearchOptions {
  /** Default 10. */
  readonly limit?: number;
  readonly namespace?: string;
  readonly visible?: Visible;
  /** Hears what the answer lacks. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** All tools of a gate at one moment. Never changes; a run keeps the one it started with. */
export interface Catalog {
  /** Changes whenever a name, a definition or an effective effect does. */
  readonly digest: Digest;
  /** In the order of their names. */
  readonly tools: readonly CatalogTool[];
  readonly namespaces: readonly CatalogNamespace[];
  /** What was left out or could not be read, for people. */
  readonly problems: readonly string[];
  /** By the exact qualified identifier; undefined for anything else. */
  resolve(name: string): CatalogTool | undefined;
  /** Best first, ties by name. Scores are comparable within one answer only. */
  search(query: string, options?: CatalogSearchOptions): Promise<{ readonly tool: CatalogTool; readonly score: number }[]>;
  /** The namespaces of what a search finds, best first; without words all with a visible tool, by name. */
  searchNamespaces(query: string, options?: Omit<CatalogSearchOptions, "namespace">): Promise<readonly FoundNamespace[]>;
  /** The namespace whose tools are not known because its source cannot be reached, as far as the asker may know of it. */
  unavailable?(namespace: string): UnavailableNamespace | undefined;
  /**
   * The same tools, called as the versions that have these interfaces, by qualified name, where they keep them. Itself where
   * none is called as an older one.
   */
  pinnedTo(interfaces: Readonly<Record<string, Digest>>): Catalog;
  /** Qualified names that a misspelt one may have meant, best first, at most three. */
  nearest(name: string, visible?: Visible): string[];
  /** TypeScript, one per namespace with a visible tool, with outputs that were learned from the answers this tenant was given. */
  declarations(visible?: Visible, tenant?: string): NamespaceDeclaration[];
  /** Python, likewise. */
  pythonStubs(visible?: Visible, tenant?: string): NamespaceDeclaration[];
  /** What a tool that declares no output was seen to answer this tenant. */
  learned(tool: CatalogTool, tenant: string): LearnedType | undefined;
  /** Another number whenever a declaration for this tenant may be another. */
  learnedRevision(tenant: string): number;
}

export interface CatalogOptions {
  /** Names of the secrets that a tool may be given. Default: none. */
  readonly secretsFor?: SecretVault["namesFor"] | undefined;
  /** Where the words of tools are kept for the next catalog. Default: they are read off all tools. */
  readonly searchIndex?: SearchIndexStore | undefined;
  /** Compares by meaning as well. Default: words alone. */
  readonly vectors?: ToolVectors | undefined;
  /** Outputs learned from answers. Default: none are. */
  readonly learned?: LearnedOutputs | undefined;
  /** Judges declarations; it may be that of other catalogs as well. Default: one of its own. */
  readonly parser?: SpecParser | undefined;
}

const defaultSearchLimit = 10;
/** Tools that are looked at for the namespaces they live in. */
const hitsForNamespaces = 200;

/**
 * Puts the tools of all sources under one roof: names by one rule, every declaration judged once.
 *
 * A tool made of functions is its developer's: a wrong declaration or a name two of them claim throws. A tool of any
 * other source is left out and said in `problems`, so that one bad tool of an upstream costs only itself; of two that
 * claim one name both are left out, because a call must never depend on the order of a list.
 *
 * Errors: `CallgateError` TOOL_INVALID, TOOL_DUPLICATE (also for two sources that claim one namespace, of any kind).
 */
export function createCatalog(listings: readonly CatalogListing[], { secretsFor = () => [], parser = createSpecParser(), searchIndex, vectors, learned }: CatalogOptions = {}): Catalog {
  const problems: string[] = [];
  const namespaces = namespacesOf(listings);
  const tools = listings.flatMap((listing, index) => registerSource({ listing, namespace: namespaces[index]?.namespace ?? "", parser, problems, secretsFor }));
  return catalogOf(tools, { namespaces, problems, searchIndex, vectors, learned });
}

function namespacesOf(listings: readonly CatalogListing[]): CatalogNamespace[] {
  const claimed = new Map<string, string>();
  return listings.map(({ source, namespace: chosen }) => {
    const written = chosen ?? source.namespace;
    const namespace = identifierOf(written, "namespace");
    const other = claimed.get(namespace);
    if (other !== undefined) {
      throw new CallgateError("TOOL_DUPLICATE", `Two sources claim the namespace "${namespace}": "${other}" and "${written}". Give one of them another name`, {
        details: { namespace, names: [other, written] },
      });
    }
    claimed.set(namespace, written);
    return { namespace, source, ...(source.purpose === undefined ? {} : { purpose: source.purpose }) };
  });
}

interface Registration {
  readonly listing: CatalogListing;
  readonly namespace: string;
  readonly parser: SpecParser;
  readonly problems: string[];
  readonly secretsFor: SecretVault["namesFor"];
}

function registerSource(registration: Registration): CatalogTool[] {
  const { listing: one, namespace, problems } = registration;
  for (const { tool, message } of one.listing.problems) problems.push(`${namespace}${tool === undefined ? "" : `.${tool}`}: ${message}`);
  const byMember = new Map<string, CatalogTool[]>();
  for (const listed of one.listing.tools) {
    const tool = registerTool(listed, registration);
    if (tool !== undefined) byMember.set(tool.member, [...(byMember.get(tool.member) ?? []), tool]);
  }
  return [...byMember.values()].flatMap((claimants) => (claimants.length === 1 ? claimants : refuseCollision(claimants, registration)));
}

function registerTool(listed: SourceTool, registration: Registration): CatalogTool | undefined {
  const { listing, namespace, parser, problems, secretsFor } = registration;
  const written: unknown = (listed.tool as { readonly name?: unknown } | null | undefined)?.name;
  const where = `${namespace}.${typeof written === "string" ? written : "(no name)"}`;
  const parsed = parser.parse(listed.tool);
  if (parsed.kind === "invalid") {
    refuse(registration, new CallgateError("TOOL_INVALID", `The tool ${where} is declared wrongly: ${parsed.issues.join("; ")}`, { details: { tool: where, issues: [...parsed.issues] } }));
    return undefined;
  }
  problems.push(...parsed.warnings.map((warning) => `${where}: ${warning}`));
  const { spec } = parsed;
  const { settings = {} } = listed;
  const member = identifierOf(spec.name, "tool");
  return createCatalogTool({ source: listing.source, listed, spec, effect: effectOf(listed), labels: labelsOf(spec, settings), ...redactionOf(spec, settings), secrets: secretsFor(`${namespace}.${member}`), namespace, member, ...olderOf(listed, spec, registration) });
}

/** A version that is declared wrongly is refused as its tool would be; the tool is there without it. */
function olderOf({ tool: { older } }: SourceTool, spec: ToolSpec, registration: Registration): Pick<CatalogToolParts, "olderOf"> {
  const { namespace, parser } = registration;
  const parsed = (older ?? []).flatMap((version) => {
    // Whether it was paged says its output, which is its own.
    const { output: _output, sensitive: _sensitive, paged: _paged, ...rest } = spec;
    const judged = parser.parse({ ...rest, version: version.version, input: version.input, output: version.output, sensitive: version.sensitive });
    if (judged.kind === "ok") return [{ older: version, spec: judged.spec }];
    const where = `${namespace}.${spec.name}`;
    refuse(registration, new CallgateError("TOOL_INVALID", `The version ${String(version.version)} that ${where} keeps is declared wrongly: ${judged.issues.join("; ")}`, { details: { tool: where, issues: [...judged.issues] } }));
    return [];
  });
  return parsed.length === 0 ? {} : { olderOf: (name, tool) => parsed.map((one) => createOlderInterface({ name, tool, ...one })) };
}

/** The user's word first; a claim of a source that is not trusted never makes a tool look safer than `write`. */
function effectOf({ tool, claimed, settings }: SourceTool): Effect {
  return settings?.effect ?? (claimed && tool.effect === "read" ? "write" : tool.effect);
}

/** What the tool says and what the user says: labels can be added, never taken away. */
function labelsOf({ labels: own }: ToolSpec, { labels = [] }: ToolSettings): readonly Label[] {
  return labels.length === 0 ? own : [...new Set([...own, ...labels])];
}

/** The same of what is sensitive. A detector may be switched off: it is the user's own record. */
function redactionOf(spec: ToolSpec, { sensitive = [], detect = {} }: ToolSettings): Pick<ToolSpec, "sensitive" | "detect"> {
  const pointers = [...new Set([...(spec.sensitive ?? []), ...sensitive])];
  const switches = { ...spec.detect, ...detect };
  return { ...(pointers.length === 0 ? {} : { sensitive: pointers }), ...(Object.keys(switches).length === 0 ? {} : { detect: switches }) };
}

/** Throws for a developer's own tools, notes the problem for anyone else's. */
function refuse({ listing, problems }: Registration, error: CallgateError): void {
  if (listing.source.kind === "functions") throw error;
  problems.push(error.message);
}

function refuseCollision(claimants: readonly CatalogTool[], registration: Registration): CatalogTool[] {
  const names = claimants.map(({ tool }) => tool.name);
  const quoted = names.map((name) => `"${name}"`).join(" and ");
  const name = claimants[0]?.name ?? "";
  const message = `${quoted} would both be ${name}: none of them is registered. Rename one`;
  refuse(registration, new CallgateError("TOOL_DUPLICATE", message, { details: { name, names } }));
  return [];
}

interface Surroundings {
  readonly namespaces: readonly CatalogNamespace[];
  readonly problems: readonly string[];
  readonly searchIndex: SearchIndexStore | undefined;
  readonly vectors: ToolVectors | undefined;
  readonly learned: LearnedOutputs | undefined;
}

function catalogOf(registered: readonly CatalogTool[], surroundings: Surroundings): Catalog {
  const { namespaces, problems, learned } = surroundings;
  const tools = [...registered].sort((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const purposes = new Map(namespaces.map(({ namespace, purpose }) => [namespace, purpose]));
  const search = createSearch(byName, purposes, surroundings);
  // What an older version answers is what it declares.
  const learnedOf = (tool: CatalogTool, tenant: string): LearnedType | undefined => (tool.older === undefined && tool.tool.output === undefined ? learned?.of(tenant, tool.definitionDigest) : undefined);
  const learnedRevision = (tenant: string | undefined): number => (tenant === undefined ? 0 : (learned?.revision(tenant) ?? 0));
  const declare = createDeclaring(learnedOf);
  const made = new WeakMap<Visible, Map<string, { readonly revision: number; readonly declarations: NamespaceDeclaration[] }>>();
  /** Every program asks for them: they are put together again only when something else is known of what tools answer. */
  const declaredFor = (form: DeclarationForm, visible: Visible = everything, tenant?: string): NamespaceDeclaration[] => {
    const revision = learnedRevision(tenant);
    const of = made.get(visible) ?? new Map<string, never>();
    const known = of.get(`${form} ${tenant ?? ""}`);
    if (known?.revision === revision) return known.declarations;
    const declarations = declare(tools.filter(visible), form, tenant);
    made.set(visible, of.set(`${form} ${tenant ?? ""}`, { revision, declarations }));
    return declarations;
  };
  const self: Catalog = {
    digest: digestOf(tools.map(({ name, definitionDigest, interfaceDigest }) => [name, definitionDigest, interfaceDigest])),
    tools,
    namespaces,
    problems: [...problems],
    resolve: (name) => byName.get(name),
    search,
    async searchNamespaces(query, { limit = defaultSearchLimit, visible = everything, onNotice } = {}) {
      const counts = new Map([...Map.groupBy(tools.filter(visible), ({ namespace }) => namespace)].map(([namespace, members]) => [namespace, members.length]));
      const found = words(query).length === 0 ? [...counts.keys()] : (await search(query, { limit: hitsForNamespaces, visible, onNotice })).map(({ tool }) => tool.namespace);
      return [...new Set(found)].slice(0, Math.max(0, limit)).map((namespace): FoundNamespace => {
        const purpose = purposes.get(namespace);
        return { namespace, ...(purpose === undefined || purpose === "" ? {} : { purpose }), toolCount: counts.get(namespace) ?? 0 };
      });
    },
    pinnedTo(interfaces) {
      const others = Object.entries(interfaces).flatMap(([name, digest]) => {
        const tool = byName.get(name);
        const asked = tool?.as(digest);
        return asked === undefined || asked === tool ? [] : [[name, asked] as const];
      });
      if (others.length === 0) return self;
      const pinned = new Map(others);
      return catalogOf(tools.map((tool) => pinned.get(tool.name) ?? tool), surroundings);
    },
    nearest: (name, visible) => nearestQualified(name, visible === undefined ? tools : tools.filter(visible)),
    declarations: (visible, tenant) => declaredFor("typescript", visible, tenant),
    pythonStubs: (visible, tenant) => declaredFor("python", visible, tenant),
    learned: learnedOf,
    learnedRevision,
  };
  return self;
}

const everything: Visible = () => true;

/** One index of all tools, made for the first search: which of them an asker may know of is said by a scope. */
function createSearch(byName: ReadonlyMap<string, CatalogTool>, purposes: ReadonlyMap<string, string | undefined>, { searchIndex, vectors }: Surroundings): Catalog["search"] {
  const indexed = once(() => createSearchIndex(Array.from(byName.values(), ({ name, namespace, tool, definitionDigest }) => ({ name, namespace, purpose: purposes.get(namespace), spec: tool, definitionDigest })), searchIndex));
  const scopes = new WeakMap<Visible, Scope>();
  const scopeWhere = (index: SearchIndex, isInside: Visible): Scope =>
    index.scopeOf((name) => {
      const tool = byName.get(name);
      return tool !== undefined && isInside(tool);
    });
  const scopeFor = (index: SearchIndex, { visible = everything, namespace }: CatalogSearchOptions): Scope => {
    if (namespace !== undefined) return scopeWhere(index, (tool) => tool.namespace === namespace && visible(tool));
    const scope = scopes.get(visible) ?? scopeWhere(index, visible);
    scopes.set(visible, scope);
    return scope;
  };
  return async (query, options = {}) => {
    const index = await indexed();
    const scope = scopeFor(index, options);
    const compared = await vectors?.compare(query, index.tools, (tool) => scope.has(tool));
    if (compared?.kind === "words_alone" && compared.notice !== "") options.onNotice?.(compared.notice);
    const hits = index.search(query, { limit: options.limit ?? defaultSearchLimit, scope, likeness: compared?.kind === "compared" ? compared.likeness : undefined });
    return hits.flatMap(({ name, score }) => {
      const tool = byName.get(name);
      return tool === undefined ? [] : [{ tool, score }];
    });
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Compared with the whole name, and with the member alone where the namespace is wrong or left out. */
function nearestQualified(name: string, tools: readonly CatalogTool[]): string[] {
  const whole = nearestNames(name, tools.map((tool) => tool.name));
  const member = name.slice(name.lastIndexOf(".") + 1);
  const alike = new Set(nearestNames(member, tools.map((tool) => tool.member)));
  const byMember = tools.filter((tool) => alike.has(tool.member)).map((tool) => tool.name);
  return [...new Set([...whole, ...byMember])].slice(0, 3);
}
