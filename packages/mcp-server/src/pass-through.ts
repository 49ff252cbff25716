import type { Gate, Handle, Principal, SourcePassThrough, SourceResourceContent } from "@callgate/contract";
import type { Prompt, PromptMessage, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import { ResourceNotFoundError, UriTemplate } from "@modelcontextprotocol/server";
import { toModelText } from "./model-text.ts";

/** One source may take this long; the others are shown without it. */
const SOURCE_TIMEOUT_MS = 10_000;

/** Resources and prompts of all sources as one list. */
export interface PassThroughRouter {
  resources(signal: AbortSignal): Promise<readonly Resource[]>;
  templates(signal: AbortSignal): Promise<readonly ResourceTemplateType[]>;
  /** Throws `ResourceNotFoundError`. Reads `result://` handles, too. */
  read(uri: string, principal: Principal, signal: AbortSignal): Promise<readonly SourceResourceContent[]>;
  prompts(signal: AbortSignal): Promise<readonly Prompt[]>;
  /** Undefined when there is none of that name. */
  prompt(name: string, args: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly PromptMessage[] | undefined>;
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
  const gather = async <Item>(ask: (source: SourcePassThrough, signal: AbortSignal) => Promise<readonly Item[]>, signal: AbortSignal): Promise<readonly Owned<Item>[]> => {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(SOURCE_TIMEOUT_MS)]);
    const lists = await Promise.all(
      [...gate.passThrough].map(async ([namespace, source]) => {
        // A source that fails shows as down in the list of namespaces; its resources are missing, the others' are not.
        const items = await ask(source, bounded).catch(() => []);
        return items.map((item) => ({ namespace, source, item }));
      }),
    );
    return lists.flat();
  };
  const ownedResources = async (signal: AbortSignal): Promise<ReadonlyMap<string, Owned<Resource>>> =>
    named(await gather((source, bounded) => source.listResources(bounded), signal), (item) => item.uri, (namespace, uri) => `callgate://${namespace}/${encodeURIComponent(uri)}`);
  const ownedPrompts = async (signal: AbortSignal): Promise<ReadonlyMap<string, Owned<Prompt>>> =>
    named(await gather(async (source, bounded) => (await source.listPrompts(bounded)).map(toPrompt), signal), (item) => item.name, (namespace, name) => `${namespace}.${name}`);

  return {
    resources: async (signal) => [...(await ownedResources(signal))].map(([uri, { item }]) => ({ ...item, uri })),
    templates: async (signal) => {
      const owned = await gather((source, bounded) => source.listResourceTemplates(bounded), signal);
      return [{ uriTemplate: "result://{run}/{number}", name: "Kept results", description: "Results and files of runs" }, ...owned.map(({ item }) => item)];
    },
    read: async (uri, principal, signal) => {
      if (uri.startsWith("result://")) return readHandle({ gate, uri: uri as Handle, principal, signal });
      const listed = (await ownedResources(signal)).get(uri);
      if (listed !== undefined) return listed.source.readResource(listed.item.uri, signal);
      const templates = await gather((source, bounded) => source.listResourceTemplates(bounded), signal);
      const match = templates.find(({ item }) => matches(item.uriTemplate, uri));
      if (match === undefined) throw new ResourceNotFoundError(uri);
      return match.source.readResource(uri, signal);
    },
    prompts: async (signal) => [...(await ownedPrompts(signal))].map(([name, { item }]) => ({ ...item, name })),
    prompt: async (name, args, signal) => {
      const owned = (await ownedPrompts(signal)).get(name);
      if (owned === undefined) return undefined;
      const messages = await owned.source.getPrompt(owned.item.name, args, signal);
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

function toPrompt(prompt: Awaited<ReturnType<SourcePassThrough["listPrompts"]>>[number]): Prompt {
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

interface HandleRead {
  readonly gate: Gate;
  readonly uri: Handle;
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

async function readHandle({ gate, uri, principal, signal }: HandleRead): Promise<readonly SourceResourceContent[]> {
  const result = await gate.read(uri, { principal, signal });
  switch (result.kind) {
    case "artifact":
      return [{ uri, mimeType: result.mimeType, content: { kind: "bytes", bytes: result.bytes } }];
    case "value":
      return [{ uri, mimeType: typeof result.value === "string" ? "text/plain" : "application/json", content: { kind: "text", text: toModelText(result.value) } }];
    case "error":
      throw new ResourceNotFoundError(uri);
  }
}
