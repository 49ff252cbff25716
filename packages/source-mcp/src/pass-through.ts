import { CallgateError } from "@callgate/contract";
import type { JsonObject, SourceNotices, SourcePassThrough, SourcePromptMessage, SourceResourceContent } from "@callgate/contract";
import type { BodyMethod } from "./connection.ts";
import type { Connector } from "./connector.ts";
import type { Notices } from "./notices.ts";
import { collectPages } from "./paging.ts";
import type { ResultBody } from "./result-body.ts";
import { firstString, isRecord } from "./is-record.ts";

export interface PassThroughOptions {
  readonly connector: Connector;
  readonly listTimeoutMs: number;
  readonly notices: Notices;
}

/** Resources and prompts of the server, as they come; entries without what makes them usable are left out. */
export function createPassThrough({ connector, listTimeoutMs, notices }: PassThroughOptions): SourcePassThrough {
  const listAll = async (method: BodyMethod, key: string, signal: AbortSignal): Promise<readonly ResultBody[]> => {
    const connection = await connector.get(signal);
    if (!connection.has(method.startsWith("prompts") ? "prompts" : method.startsWith("tools") ? "tools" : "resources")) return [];
    try {
      const { items } = await collectPages((cursor) => connector.request(method, cursor === undefined ? {} : { cursor }, { signal, timeoutMs: listTimeoutMs }), key);
      return items.filter(isRecord);
    } catch (error) {
      signal.throwIfAborted();
      throw connector.failure(`did not answer ${method}`, error);
    }
  };
  const ask = async (method: BodyMethod, params: ResultBody, signal: AbortSignal): Promise<ResultBody> => {
    await connector.get(signal);
    try {
      return await connector.request(method, params, { signal, timeoutMs: listTimeoutMs });
    } catch (error) {
      signal.throwIfAborted();
      throw connector.failure(`did not answer ${method}`, error);
    }
  };
  return {
    listTools: async (signal) => (await listAll("tools/list", "tools", signal)).flatMap((item) => (typeof item["name"] === "string" ? [item as JsonObject] : [])),
    listResources: async (signal) =>
      (await listAll("resources/list", "resources", signal)).flatMap((item) => {
        const uri = firstString(item["uri"]);
        return uri === undefined ? [] : [{ uri, ...described(item, uri) }];
      }),
    listResourceTemplates: async (signal) =>
      (await listAll("resources/templates/list", "resourceTemplates", signal)).flatMap((item) => {
        const uriTemplate = firstString(item["uriTemplate"]);
        return uriTemplate === undefined ? [] : [{ uriTemplate, ...described(item, uriTemplate) }];
      }),
    readResource: async (uri, signal) => {
      const { contents } = await ask("resources/read", { uri }, signal);
      return Array.isArray(contents) ? contents.flatMap((part: unknown) => resourceContent(part, uri)) : [];
    },
    listPrompts: async (signal) =>
      (await listAll("prompts/list", "prompts", signal)).flatMap((item) => {
        const name = firstString(item["name"]);
        if (name === undefined) return [];
        const description = firstString(item["description"], item["title"]);
        return [{ name, ...(description === undefined ? {} : { description }), arguments: promptArguments(item["arguments"]) }];
      }),
    getPrompt: async (name, args, signal) => {
      const { messages } = await ask("prompts/get", { name, arguments: args }, signal);
      return Array.isArray(messages) ? messages.filter(isRecord).flatMap(promptMessage) : [];
    },
    notices: noticesOf({ connector, notices }),
  };
}

function noticesOf({ connector, notices }: Pick<PassThroughOptions, "connector" | "notices">): SourceNotices {
  const told = async (method: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      signal.throwIfAborted();
      throw CallgateError.is(error) ? error : connector.failure(`did not answer ${method}`, error);
    });
  };
  return {
    listen: notices.listen,
    subscribe: (uri, signal) => told("resources/subscribe", signal, () => notices.subscribe(uri, signal)),
    unsubscribe: notices.unsubscribe,
    setLogLevel: (level, signal) => told("logging/setLevel", signal, () => notices.setLogLevel(level, signal)),
  };
}

function described(item: ResultBody, fallback: string): { readonly name: string; readonly description?: string; readonly mimeType?: string } {
  const description = firstString(item["description"], item["title"]);
  const mimeType = firstString(item["mimeType"]);
  return {
    name: firstString(item["name"], item["title"]) ?? fallback,
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { mimeType }),
  };
}

function resourceContent(part: unknown, asked: string): readonly SourceResourceContent[] {
  if (!isRecord(part)) return [];
  const uri = firstString(part["uri"]) ?? asked;
  const mimeType = firstString(part["mimeType"]);
  const head = { uri, ...(mimeType === undefined ? {} : { mimeType }) };
  if (typeof part["text"] === "string") return [{ ...head, content: { kind: "text", text: part["text"] } }];
  if (typeof part["blob"] === "string") return [{ ...head, content: { kind: "bytes", bytes: Buffer.from(part["blob"], "base64") } }];
  return [];
}

function promptArguments(value: unknown): readonly { readonly name: string; readonly description?: string; readonly required: boolean }[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((item) => {
    const name = firstString(item["name"]);
    const description = firstString(item["description"]);
    return name === undefined ? [] : [{ name, ...(description === undefined ? {} : { description }), required: item["required"] === true }];
  });
}

function promptMessage(message: ResultBody): readonly SourcePromptMessage[] {
  const { role, content } = message;
  return role === "user" || role === "assistant" ? [{ role, content }] : [];
}
