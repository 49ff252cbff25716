import type { Gate, LogLevel, Principal, SourceNotice, SourceNotices } from "@callgate/contract";
import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { PassThroughAsker, SourceUri } from "./pass-through.ts";

export interface NoticeMember {
  readonly server: Server;
  readonly principal: Principal;
  readonly askerOf: (context: ServerContext) => PassThroughAsker;
  /** The resource that a client means. Undefined: there is none for it. */
  readonly resourceOf: (uri: string, asker: PassThroughAsker) => Promise<SourceUri | undefined>;
  /** True where a client gets log messages before it has asked for a level, as from the server itself. */
  readonly logsAtOnce: boolean;
  /** The one source that is shown. Default: all. */
  readonly namespace?: string;
}

/** What sources say by themselves, for the clients of connections that last: log messages, and changes of resources that they asked about. */
export interface NoticeBoard {
  /** Before its connection is made. */
  join(member: NoticeMember): void;
  leave(server: Server): void;
  /**
   * Somebody asks on behalf of this principal. A server behind has one connection for all, and does not say whose call a log
   * message is about: once several tenants or users ask, nobody is shown any more of them.
   */
  saw(principal: Principal): void;
  close(): void;
}

const levels: readonly LogLevel[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

interface Joined extends NoticeMember {
  level: LogLevel | undefined;
  /** Names of the client's, by source and its own name. */
  readonly subscribed: Map<string, string>;
}

/** @param onFault a notice that could not be sent */
export function createNoticeBoard(gate: Gate, onFault: (error: unknown) => void): NoticeBoard {
  const members = new Map<Server, Joined>();
  const heard = new Map<string, { readonly notices: SourceNotices; readonly stop: () => void }>();
  const users = new Set<string>();
  const tell = (namespace: string, notice: SourceNotice): void => {
    for (const member of members.values()) {
      const message = messageFor(member, { namespace, notice, hasSeveralUsers: users.size > 1 });
      if (message !== undefined && gate.passThrough({ principal: member.principal }).has(namespace)) member.server.notification(message).catch(onFault);
    }
  };
  /** Sources come and go. */
  const attach = (): void => {
    for (const member of members.values()) {
      for (const [namespace, { notices }] of gate.passThrough({ principal: member.principal })) {
        if (notices === undefined || heard.get(namespace)?.notices === notices) continue;
        heard.get(namespace)?.stop();
        heard.set(namespace, { notices, stop: notices.listen((notice) => tell(namespace, notice)) });
        askForLevel(notices);
      }
    }
  };
  const lowest = (): LogLevel | undefined => levels.find((level) => [...members.values()].some((member) => member.level === level));
  const askForLevel = (notices: SourceNotices): void => {
    const level = lowest();
    if (level !== undefined) notices.setLogLevel(level, AbortSignal.timeout(askTimeoutMs)).catch(() => undefined); // Its tools are none the worse.
  };
  const end = async (member: Joined, key: string): Promise<void> => {
    if (!member.subscribed.delete(key) || [...members.values()].some(({ subscribed }) => subscribed.has(key))) return;
    const [namespace = "", uri = ""] = JSON.parse(key) as readonly string[];
    await heard.get(namespace)?.notices.unsubscribe(uri);
  };
  const unsubscribe = gate.onEvent(({ kind }) => {
    if (kind === "source-changed" || kind === "catalog-changed") attach();
  });
  return {
    join(given) {
      const member: Joined = { ...given, level: undefined, subscribed: new Map() };
      members.set(given.server, member);
      serveNotices(member, { gate, attach, askForLevels: () => heard.forEach(({ notices }) => askForLevel(notices)), end: (key) => end(member, key) });
      attach();
    },
    leave(server) {
      const member = members.get(server);
      members.delete(server);
      if (member !== undefined) for (const key of member.subscribed.keys()) end(member, key).catch(onFault);
    },
    saw: ({ tenant, user }) => void users.add(JSON.stringify([tenant, user])),
    close() {
      unsubscribe();
      for (const { stop } of heard.values()) stop();
    },
  };
}

const askTimeoutMs = 10_000;

interface Serving {
  readonly gate: Gate;
  readonly attach: () => void;
  readonly askForLevels: () => void;
  readonly end: (key: string) => Promise<void>;
}

function serveNotices(member: Joined, { gate, attach, askForLevels, end }: Serving): void {
  const { server, askerOf, resourceOf } = member;
  server.setRequestHandler("logging/setLevel", ({ params }) => {
    member.level = params.level;
    attach();
    askForLevels();
    return {};
  });
  server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
    const asker = askerOf(context);
    const found = await resourceOf(params.uri, asker);
    const notices = found === undefined ? undefined : gate.passThrough(asker).get(found.namespace)?.notices;
    if (found === undefined || notices === undefined) throw new ResourceNotFoundError(params.uri);
    attach();
    await notices.subscribe(found.uri, asker.signal);
    member.subscribed.set(keyOf(found), params.uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
    for (const [key, uri] of member.subscribed) if (uri === params.uri) await end(key);
    return {};
  });
}

function keyOf({ namespace, uri }: SourceUri): string {
  return JSON.stringify([namespace, uri]);
}

type Message = Parameters<Server["notification"]>[0];

interface Told {
  readonly namespace: string;
  readonly notice: SourceNotice;
  readonly hasSeveralUsers: boolean;
}

function messageFor({ level, logsAtOnce, namespace: only, subscribed }: Joined, { namespace, notice, hasSeveralUsers }: Told): Message | undefined {
  if (only !== undefined && only !== namespace) return undefined;
  switch (notice.kind) {
    case "resource-updated": {
      const uri = subscribed.get(keyOf({ namespace, uri: notice.uri }));
      return uri === undefined ? undefined : { method: "notifications/resources/updated", params: { uri } };
    }
    case "log": {
      const wanted = level ?? (logsAtOnce ? "debug" : undefined);
      if (hasSeveralUsers || wanted === undefined || levels.indexOf(notice.level) < levels.indexOf(wanted)) return undefined;
      // Which of several servers it comes from is in the name of the logger.
      const logger = only === undefined ? [namespace, notice.logger].filter((part) => part !== undefined).join("/") : notice.logger;
      return { method: "notifications/message", params: { level: notice.level, ...(logger === undefined ? {} : { logger }), data: notice.data } };
    }
  }
}
