import type { Digest, GuestModule, NamespaceDeclaration, Policy, Principal, ProgramLanguage, Reach } from "@callgate/contract";
import { LRUCache } from "lru-cache";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import { digestOf } from "../lib/digest.ts";

/** A catalog as one principal sees it: what they may not call does not exist. */
export interface CatalogView {
  readonly catalog: Catalog;
  readonly visible: (tool: CatalogTool) => boolean;
  readonly tools: readonly CatalogTool[];
  /** For the guest. */
  readonly modules: readonly GuestModule[];
  readonly modulesDigest: Digest;
  declarations(language: ProgramLanguage): readonly NamespaceDeclaration[];
  /** Interface digests of the tools a program can reach. */
  interfaces(reach: Reach): Readonly<Record<string, Digest>>;
}

export interface CatalogViews {
  of(catalog: Catalog, principal: Principal): CatalogView;
}

/** Principals whose view of one catalog is kept. */
const maxViews = 64;

/** Asking the policy about hundreds of tools for each run would cost more than the run. */
export function createCatalogViews(policy: Policy): CatalogViews {
  const byCatalog = new WeakMap<Catalog, LRUCache<string, CatalogView>>();
  return {
    of(catalog, principal) {
      let views = byCatalog.get(catalog);
      if (views === undefined) byCatalog.set(catalog, (views = new LRUCache<string, CatalogView>({ max: maxViews })));
      const { tenant, user, agent, roles, claims } = principal;
      const key = JSON.stringify([policy.version, tenant, user, agent, roles, claims]);
      let view = views.get(key);
      if (view === undefined) views.set(key, (view = createView(catalog, policy, principal)));
      return view;
    },
  };
}

function createView(catalog: Catalog, policy: Policy, principal: Principal): CatalogView {
  const tools = catalog.tools.filter((tool) => policy.visible(principal, tool.name, tool.tool));
  const seen = new Set(tools);
  const visible = (tool: CatalogTool): boolean => seen.has(tool);
  const members = new Map<string, string[]>();
  for (const { namespace, member } of tools) members.set(namespace, [...(members.get(namespace) ?? []), member]);
  const modules = [...members].map(([namespace, names]) => ({ namespace, tools: names }));
  const declared = new Map<string, readonly NamespaceDeclaration[]>();
  return {
    catalog,
    visible,
    tools,
    modules,
    modulesDigest: digestOf(modules),
    declarations(language) {
      const form = language === "python" ? "python" : "typescript";
      let declarations = declared.get(form);
      if (declarations === undefined) declared.set(form, (declarations = form === "python" ? catalog.pythonStubs(visible) : catalog.declarations(visible)));
      return declarations;
    },
    interfaces({ tools: reached }) {
      const names = reached === "*" ? tools : tools.filter(({ name }) => reached.includes(name));
      return Object.fromEntries(names.map(({ name, interfaceDigest }) => [name, interfaceDigest]));
    },
  };
}
