import type { Gate, Handle, Principal, SourcePassThrough, SourceResourceContent } from "@callgate/contract";
import type { Prompt, PromptMessage, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { ResourceNotFoundError, UriTemplate } from "@modelcontextprotocol/server";
import { toModelText } from "@callgate/runtime/surface";
import { templatePrompts } from "./template-prompts.ts";

/** One source may take this long; the others are shown without it. */
const SOURCE_TIMEOUT_MS = 10_000;

/** Who asks, and into whose context it goes. */
export interface PassThroughAsker {
  readonly principal: Principal;
  readonly conversation: string;
  readonly signal: AbortSignal;
}

/** A resource by its source. */
export interface SourceUri {
  readonly namespace: string;
  readonly uri: string;
}

/** Resources and prompts of all sources as one list. What the asker may call nothing of has none, in the words of what does not exist. */
export interface PassThroughRouter {
  resources(asker: PassThroughAsker): Promise<readonly Resource[]>;
  templates(asker: PassThroughAsker): Promise<readonly ResourceTemplateType[]>;
  /** Throws `ResourceNotFoundError`. Reads `result://` handles, too. */
  read(uri: string, asker: PassThroughAsker): Promise<readonly SourceResourceContent[]>;
  /** The resource of a source that a client means by this. */
  readonly find: (uri: string, asker: PassThroughAsker) => Promise<SourceUri | undefined>;
  prompts(asker: PassThroughAsker): Promise<readonly Prompt[]>;
  /** Undefined when there is none of that name. */
  prompt(name: string, args: Readonly<Record<string, string>>, asker: PassThroughAsker): Promise<readonly PromptMessage[] | undefined>;
}

interface Owned<Item> {
  readonly namespace: string;
  readonly source: SourcePassThrough;
  readonly item: Item;
}

/**
 * Names stay as the sources gave them. Where two sources use the same one, both are qualified: `callgate://<ns>/<uri>`
 * for resources, `<ns>.<name>` for prompts.
 */
export function createPassThroughRouter(gate: Gate): PassThroughRouter {
  const gather = async <Item>(ask: (source: SourcePassThrough, signal: AbortSignal) => Promise<readonly Item[]>, asker: PassThroughAsker): Promise<readonly Owned<Item>[]> => {
    const bounded = AbortSignal.any([asker.signal, AbortSignal.timeout(SOURCE_TIMEOUT_MS)]);
    const lists = await Promise.all(
      [["templates", templatePrompts(gate, asker)] as const, ...gate.passThrough(asker)].map(async ([namespace, source]) => {
        // A source that fails shows as down in the list of namespaces; its resources are missing, the others' are not.
        const items = await ask(source, bounded).catch(() => []);
        return items.map((item) => ({ namespace, source, item }));
      }),
    );
    return lists.flat();
  };
  const ownedResources = async (asker: PassThroughAsker): Promise<ReadonlyMap<string, Owned<Resource>>> =>
    named(await gather((source, bounded) => source.listResources(bounded), asker), (item) => item.uri, (namespace, uri) => `callgate://${namespace}/${encodeURIComponent(uri)}`);
  const ownedPrompts = async (asker: PassThroughAsker): Promise<ReadonlyMap<string, Owned<Prompt>>> =>
    named(await gather(async (source, bounded) => (await source.listPrompts(bounded)).map(toPrompt), asker), (item) => item.name, (namespace, name) => `${namespace}.${name}`);
  const find = async (uri: string, asker: PassThroughAsker): Promise<SourceUri | undefined> => {
    const listed = (await ownedResources(asker)).get(uri);
    if (listed !== undefined) return { namespace: listed.namespace, uri: listed.item.uri };
    const templates = await gather((source, bounded) => source.listResourceTemplates(bounded), asker);
    const match = templates.find(({ item }) => matches(item.uriTemplate, uri));
    return match === undefined ? undefined : { namespace: match.namespace, uri };
  };

  return {
    resources: async (asker) => [...(await ownedResources(asker))].map(([uri, { item }]) => ({ ...item, uri })),
    templates: async (asker) => {
      const owned = await gather((source, bounded) => source.listResourceTemplates(bounded), asker);
      return [{ uriTemplate: "result://{run}/{number}", name: "Kept results", description: "Results and files of runs" }, ...owned.map(({ item }) => item)];
    },
    read: async (uri, asker) => {
      if (uri.startsWith("result://")) return readHandle(gate, uri as Handle, asker);
      const found = await find(uri, asker);
      const source = found === undefined ? undefined : gate.passThrough(asker).get(found.namespace);
      if (found === undefined || source === undefined) throw new ResourceNotFoundError(uri);
      return source.readResource(found.uri, asker.signal);
    },
    find,
    prompts: async (asker) => [...(await ownedPrompts(asker))].map(([name, { item }]) => ({ ...item, name })),
    prompt: async (name, args, asker) => {
      const owned = (await ownedPrompts(asker)).get(name);
      if (owned === undefined) return undefined;
      const messages = await owned.source.getPrompt(owned.item.name, args, asker.signal);
      return messages.map(({ role, content }) => ({ role, content }) as PromptMessage);
    },
  };
}

function named<Item>(all: readonly Owned<Item>[], nameOf: (item: Item) => string, qualify: (namespace: string, name: string) => string): ReadonlyMap<string, Owned<Item>> {
  const owners = new Map<string, Set<string>>();
  for (const { namespace, item } of all) {
    const name = nameOf(item);
    owners.set(name, (owners.get(name) ?? new Set()).add(namespace));
  }
  return new Map(all.map((owned) => {
    const name = nameOf(owned.item);
    return [(owners.get(name)?.size ?? 0) > 1 ? qualify(owned.namespace, name) : name, owned];
  }));
}

export function toPrompt(prompt: Awaited<ReturnType<SourcePassThrough["listPrompts"]>>[number]): Prompt {
  return { name: prompt.name, ...(prompt.description === undefined ? {} : { description: prompt.description }), arguments: prompt.arguments.map((argument) => ({ ...argument })) };
}

function matches(template: string, uri: string): boolean {
  try {
    return new UriTemplate(template).match(uri) !== null;
  } catch {
    // A template the server wrote wrongly matches nothing.
    return false;
  }
}

async function readHandle(gate: Gate, uri: Handle, asker: PassThroughAsker): Promise<readonly SourceResourceContent[]> {
  const result = await gate.read(uri, asker);
  switch (result.kind) {
    case "artifact":
      return [{ uri, mimeType: result.mimeType, content: { kind: "bytes", bytes: result.bytes } }];
    case "value":
      return [{ uri, mimeType: typeof result.value === "string" ? "text/plain" : "application/json", content: { kind: "text", text: toModelText(result.value) } }];
    case "error":
      throw new ResourceNotFoundError(uri);
  }
}
