import type { Digest, GuestModule, NamespaceDeclaration, Policy, Principal, ProgramLanguage, Reach, UnavailableNamespace } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { LearnedType } from "../catalog/learned/learned-outputs.ts";
import { digestOf } from "../lib/digest.ts";
import type { SourceTrouble } from "./listed-source.ts";

/** A catalog as one principal sees it: what they may not call does not exist. */
export interface CatalogView {
  readonly catalog: Catalog;
  readonly visible: (tool: CatalogTool) => boolean;
  readonly tools: readonly CatalogTool[];
  /** Namespaces whose tools are not known for now, of which the principal may call some by the rules. */
  readonly unavailable: readonly UnavailableNamespace[];
  /** For the guest. */
  readonly modules: readonly GuestModule[];
  readonly modulesDigest: Digest;
  declarations(language: ProgramLanguage): readonly NamespaceDeclaration[];
  /** What a tool that declares no output was seen to answer this principal's tenant. */
  learned(tool: CatalogTool): LearnedType | undefined;
  /** Interface digests of the tools a program can reach. */
  interfaces(reach: Reach): Readonly<Record<string, Digest>>;
  /** The same with tools called as the versions that have these interfaces, where they keep them. */
  pinnedTo(interfaces: Readonly<Record<string, Digest>>): CatalogView;
}

export interface CatalogViews {
  /** @param troubles of the namespaces that could not be listed */
  of(catalog: Catalog, principal: Principal, troubles: ReadonlyMap<string, SourceTrouble>): CatalogView;
  /** Whether the rules let the principal call anything in a namespace whose tools are not known. A policy that throws hides it: the safe reading. */
  mayReach(principal: Principal, namespace: string): boolean;
}

/** Principals whose view of one catalog is kept. */
const maxViews = 64;

/** Views of one principal kept with tools called as older versions. */
const maxPinned = 8;

/** Asking the policy about hundreds of tools for each run would cost more than the run. */
export function createCatalogViews(policy: Policy): CatalogViews {
  const byCatalog = new WeakMap<Catalog, LRUCache<string, CatalogView>>();
  const mayReach: CatalogViews["mayReach"] = (principal, namespace) => {
    try {
      return policy.mayReach(principal, namespace);
    } catch {
      return false;
    }
  };
  return {
    mayReach,
    of(catalog, principal, troubles) {
      let views = byCatalog.get(catalog);
      if (views === undefined) byCatalog.set(catalog, (views = new LRUCache<string, CatalogView>(atMost(maxViews))));
      const { tenant, user, agent, roles, claims } = principal;
      const key = JSON.stringify([policy.version, tenant, user, agent, roles, claims]);
      let view = views.get(key);
      if (view === undefined) views.set(key, (view = createView(catalog, policy, principal)));
      const reachable = new Map([...troubles].filter(([namespace]) => mayReach(principal, namespace)));
      return reachable.size === 0 ? view : withUnavailable(view, reachable);
    },
  };
}

/** Sources come and go more often than catalogs change, so this is put on top of what is kept. */
function withUnavailable(view: CatalogView, troubles: ReadonlyMap<string, SourceTrouble>): CatalogView {
  const works = view.modules.map(({ namespace }) => namespace);
  const unavailable = [...troubles].map(([namespace, trouble]) => ({ namespace, message: messageOf(namespace, trouble, works), retryable: trouble.retryAfterMs !== undefined }));
  const modules = [...view.modules, ...unavailable.map(({ namespace }): GuestModule => ({ namespace, tools: [], open: true }))];
  const byName = new Map(unavailable.map((one) => [one.namespace, one]));
  return { ...view, catalog: { ...view.catalog, unavailable: (namespace) => byName.get(namespace) }, unavailable, modules, modulesDigest: digestOf(modules), pinnedTo: (interfaces) => withUnavailable(view.pinnedTo(interfaces), troubles) };
}

/** Namespaces named as those that still work. */
const maxNamed = 10;

function messageOf(namespace: string, { what, retryAfterMs }: SourceTrouble, works: readonly string[]): string {
  const more = works.length > maxNamed ? " and others" : "";
  const rest = works.length === 0 ? "No other tools are here." : `What works: ${works.slice(0, maxNamed).join(", ")}${more}.`;
  return `The source ${namespace} ${what}. Its tools cannot be called for now. ${rest} ${whenToRetry(retryAfterMs)}`;
}

function whenToRetry(retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return "Trying again does not help before a person has mended it (callgate doctor).";
  return retryAfterMs === 0 ? "Try again later: each use asks it anew." : `Try again in ${Math.ceil(retryAfterMs / 1000)} s: it is then asked anew.`;
}

function createView(catalog: Catalog, policy: Policy, principal: Principal): CatalogView {
  const tools = catalog.tools.filter((tool) => policy.visible(principal, tool.name, tool.tool));
  const seen = new Set(tools);
  const visible = (tool: CatalogTool): boolean => seen.has(tool);
  const modules = [...Map.groupBy(tools, ({ namespace }) => namespace)].map(([namespace, members]) => ({ namespace, tools: members.map(({ member }) => member) }));
  const declared = new Map<string, { readonly revision: number; readonly declarations: readonly NamespaceDeclaration[] }>();
  const pinnedViews = new LRUCache<Digest, CatalogView>(atMost(maxPinned));
  const self: CatalogView = {
    catalog,
    visible,
    tools,
    unavailable: [],
    modules,
    modulesDigest: digestOf(modules),
    declarations(language) {
      const form = language === "python" ? "python" : "typescript";
      const revision = catalog.learnedRevision(principal.tenant);
      const known = declared.get(form);
      if (known?.revision === revision) return known.declarations;
      const declarations = form === "python" ? catalog.pythonStubs(visible, principal.tenant) : catalog.declarations(visible, principal.tenant);
      declared.set(form, { revision, declarations });
      return declarations;
    },
    learned: (tool) => catalog.learned(tool, principal.tenant),
    interfaces({ tools: reached }) {
      const wanted = new Set(reached);
      const names = reached === "*" ? tools : tools.filter(({ name }) => wanted.has(name));
      return Object.fromEntries(names.map(({ name, interfaceDigest }) => [name, interfaceDigest]));
    },
    pinnedTo(interfaces) {
      const pinned = catalog.pinnedTo(interfaces);
      if (pinned === catalog) return self;
      const known = pinnedViews.get(pinned.digest) ?? createView(pinned, policy, principal);
      pinnedViews.set(pinned.digest, known);
      return known;
    },
  };
  return self;
}
