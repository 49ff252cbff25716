import type { CircuitView, Gate, Label, NamespaceView, Principal, SearchHit, SearchOptions, SourcePassThrough, TaskTemplate, ToolView } from "@callgate/contract";
import type { Visible } from "../catalog/catalog.ts";
import { findTemplates } from "../catalog/find-templates.ts";
import { signatureWith } from "../catalog/catalog-tool.ts";
import type { CatalogTool } from "../catalog/catalog-tool.ts";
import type { CatalogKeeper } from "./catalog-keeper.ts";
import type { CatalogView, CatalogViews } from "./catalog-view.ts";
import type { GateSource } from "./gate-options.ts";
import type { SourceTrouble } from "./listed-source.ts";

export type GateCatalog = Pick<Gate, "search" | "searchNamespaces" | "templates" | "describe" | "nearest" | "tools" | "namespaces" | "declarations"> & {
  viewFor(principal: Principal): CatalogView;
  /** Of the sources of which the principal may call something. */
  passThrough(principal: Principal): readonly PassThroughEntry[];
};

/** A source that has resources or prompts, and the labels of all that it answers. */
export interface PassThroughEntry {
  readonly namespace: string;
  readonly source: SourcePassThrough;
  readonly labels: readonly Label[];
}

export interface GateCatalogOptions {
  readonly keeper: CatalogKeeper;
  readonly views: CatalogViews;
  readonly sources: readonly GateSource[];
  readonly templates: readonly TaskTemplate[];
  /** Used where the caller names none. */
  readonly principal: Principal;
  /** Of a source that is left alone for a while. */
  readonly circuitOf: (namespace: string) => CircuitView | undefined;
}

/** What callers may know of the catalog: only what their principal may call. */
export function createGateCatalog({ keeper, views, sources, templates, principal, circuitOf }: GateCatalogOptions): GateCatalog {
  const troubles = (): Map<string, SourceTrouble> =>
    new Map(
      keeper.current.namespaces.flatMap(({ namespace, source }) => {
        const own = sources.find((one) => one.source === source);
        const trouble = own === undefined ? undefined : keeper.troubleOf(own);
        return trouble === undefined ? [] : [[namespace, trouble] as const];
      }),
    );
  const viewFor = (asker: Principal | undefined): CatalogView => views.of(keeper.current, asker ?? principal, troubles());
  return {
    viewFor,
    async search(query, options = {}) {
      keeper.retry().catch(() => undefined);
      const view = viewFor(options.principal);
      const { catalog, visible } = view;
      const { limit, namespace, allows, onNotice } = options;
      const hits = await catalog.search(query, { visible: narrowed(visible, allows), onNotice, ...(limit === undefined ? {} : { limit }), ...(namespace === undefined ? {} : { namespace }) });
      return hits.map(({ tool, score }): SearchHit => ({ ...viewOf(tool, view), score }));
    },
    templates: ({ principal: asker, query } = {}) => templatesFor(viewFor(asker), templates, query),
    async searchNamespaces(query, options = {}) {
      keeper.retry().catch(() => undefined);
      const { catalog, visible } = viewFor(options.principal);
      return await catalog.searchNamespaces(query, { visible: narrowed(visible, options.allows), onNotice: options.onNotice, ...(options.limit === undefined ? {} : { limit: options.limit }) });
    },
    describe(names, options = {}) {
      const view = viewFor(options.principal).pinnedTo(options.interfaces ?? {});
      return names.flatMap((name) => {
        const tool = view.catalog.resolve(name);
        return tool === undefined || !view.visible(tool) ? [] : [viewOf(tool, view)];
      });
    },
    nearest(name, options = {}) {
      const { catalog, visible } = viewFor(options.principal);
      return catalog.nearest(name, narrowed(visible, options.allows));
    },
    tools(options = {}) {
      const view = viewFor(options.principal);
      return view.tools.map((tool) => viewOf(tool, view));
    },
    namespaces: (options = {}) => namespaceViews(viewFor(options.principal), { keeper, sources, circuitOf }),
    declarations(options = {}) {
      const { language = "typescript", namespaces } = options;
      const all = viewFor(options.principal).declarations(language);
      return all.filter(({ namespace }) => namespaces?.includes(namespace) ?? true).map(({ text }) => text).join("\n\n");
    },
    passThrough(asker) {
      const { catalog, tools } = viewFor(asker);
      const isEmpty = (namespace: string): boolean => !catalog.tools.some((tool) => tool.namespace === namespace);
      // Of a source without tools, or whose tools are not known, the rules say whether any could be called.
      const reaches = (namespace: string): boolean => (isEmpty(namespace) ? views.mayReach(asker, namespace) : tools.some((tool) => tool.namespace === namespace));
      return catalog.namespaces.flatMap(({ namespace, source }) =>
        source.passThrough === undefined || !reaches(namespace) ? [] : [{ namespace, source: source.passThrough, labels: source.passThrough.labels ?? [] }]);
    },
  };
}

function namespaceViews(view: CatalogView, { keeper, sources, circuitOf }: Pick<GateCatalogOptions, "keeper" | "sources" | "circuitOf">): readonly NamespaceView[] {
  const counts = new Map(view.modules.map((module) => [module.namespace, module.tools.length]));
  return view.catalog.namespaces.map(({ namespace, source, purpose }): NamespaceView => {
    const own = sources.find((one) => one.source === source);
    const toolCount = counts.get(namespace) ?? 0;
    const unavailable = view.unavailable.find((one) => one.namespace === namespace);
    const circuit = circuitOf(namespace);
    return { namespace, kind: source.kind, purpose, state: own === undefined ? source.state : keeper.stateOf(own), toolCount, ...(unavailable === undefined ? {} : { unavailable }), ...(circuit === undefined ? {} : { circuit }) };
  });
}

function narrowed(visible: Visible, allows: SearchOptions["allows"]): Visible {
  return allows === undefined ? visible : (tool) => visible(tool) && allows(tool.name);
}

function viewOf(tool: CatalogTool, view: CatalogView): ToolView {
  const { name, namespace, declared, line, definitionDigest, interfaceDigest } = tool;
  const learned = view.learned(tool);
  return {
    name,
    namespace,
    spec: declared,
    line,
    // Made when first read: a list of all tools is mostly read for their names.
    get signature() {
      return signatureWith(tool, learned);
    },
    ...(learned === undefined ? {} : { learned: { schema: learned.schema, calls: learned.calls } }),
    definitionDigest,
    interfaceDigest,
  };
}

/** Templates that name a tool which does not exist for the asker do not exist either. */
function templatesFor({ catalog, visible }: CatalogView, templates: readonly TaskTemplate[], query: string | undefined): readonly TaskTemplate[] {
  const known = templates.filter(({ tools }) => tools.every((name) => {
    const tool = catalog.resolve(name);
    return tool !== undefined && visible(tool);
  }));
  return query === undefined ? known : findTemplates(known, query);
}
