import { resolve } from "node:path";
import type { AnswerSigner, Approver, AskServerQuestion, Checker, Clock, Gate, RunLimits, SandboxDriver, SearchEmbedding, Source } from "@callgate/contract";
import { createGate, systemClock } from "@callgate/runtime";
import { denyingApprover, keepingApprover } from "@callgate/runtime/broker";
import { scanActions } from "@callgate/runtime/check";
import { configuredSecrets } from "./configured-secrets.ts";
import { isTraced } from "@callgate/runtime/telemetry";
import { createRedactor, openMasterKey } from "@callgate/runtime/journal";
import { functionSource } from "@callgate/runtime/source";
import type { SpecParser } from "@callgate/runtime/catalog";
import { createGuestChecker } from "@callgate/sandbox-process";
import { approvalRules, approvalsConfig } from "./approver/approval-rules.ts";
import type { EmbeddingConfig } from "./config/embedding-schema.ts";
import type { CallgateConfig } from "./config/load-config.ts";
import { javaScriptCheckers } from "./javascript-check.ts";
import type { McpSources } from "./mcp-sources.ts";
import type { ServiceHost, ServiceSources } from "./openapi-sources.ts";
import { callLimitOptions } from "./call-limit-options.ts";
import { openAnswers } from "./open-answers.ts";
import { keyFileAt, openJournal, ownPlacesOf } from "./open-journal.ts";
import { openRedis } from "./open-redis.ts";
import { openPolicy, surroundingsOf } from "./open-policy.ts";
import { completePrincipal, profilePrincipal } from "./principal-input.ts";
import type { PrincipalInput } from "./principal-input.ts";
import { registeredLanguages } from "./program-languages.ts";
import { pythonCheckers } from "./python-check.ts";
import { configuredRemote, sandboxDrivers } from "./sandbox-driver.ts";
import { documentsSources } from "./documents-sources.ts";
import { sqlSources } from "./sql-sources.ts";
import { userFolders } from "./state-folder.ts";
import { createSearchIndexFile } from "./search-index-file.ts";
import { createLearnedOutputFile } from "./learned-output-file.ts";
import { createToolHistory } from "./history/tool-history.ts";
import { keepWorkflowsChecked, workflowsIn } from "./folder/folder-workflows.ts";
import { openQuestionWebhook } from "./webhook/open-question-webhook.ts";
import { sendQuestions } from "./webhook/send-questions.ts";

/** What `createCallgate` takes: the configuration, and what only a program can give. */
export interface CallgateOptions extends Omit<CallgateConfig, "$schema" | "principal" | "toolsFolder" | "agent" | "lint" | "embedding"> {
  readonly principal?: PrincipalInput;
  /** Where relative paths start. Default: the working directory. */
  readonly folder?: string;
  /** Journal, blobs and keys. Default: the user's XDG state folder. */
  readonly stateFolder?: string;
  /** Hears of what no caller does: a journal that a worker cannot reach, a listener of events that throws. Default: nobody. */
  readonly onFault?: (fault: unknown) => void;
  /** Loads the checker and the token table ahead of the first program. For processes that live long. Default false. */
  readonly warm?: boolean;
  /** Connects every source when the gate is opened. Default false: one whose tools are pinned is connected at its first call. */
  readonly eagerSources?: boolean;
  /** One of `mcpServers` that a client is to see unchanged (`createMcpServer`'s `passThrough`): its calls give whole answers. Default: none. */
  readonly passThrough?: string;
  /** Who is asked. Default: as `approvals` says; nobody, so that what asks is denied, where that says nothing. */
  readonly approver?: Approver;
  /** Asks the person what an MCP server with `elicitation` wants to know. It answers no approval. Default: nobody does, and such questions are refused. */
  readonly askServerQuestion?: AskServerQuestion;
  /**
   * Signs what this process says of calls itself (`runs.complete`, `runs.resolve`) where answers need a key: `openApprover`
   * opens that of this user. Default: nobody does.
   */
  readonly signer?: AnswerSigner;
  /**
   * Sandboxes of your own (docs/guide/own-sandbox.md). They come before Callgate's: the first that runs a language gets its
   * programs. Closed with the gate.
   */
  readonly drivers?: readonly SandboxDriver[];
  /**
   * Modules of Python functions that programs find (docs/guide/code-execution.md), name to text: where Python is checked,
   * calls of them are checked like those of tools. They are not put into the sandbox by this.
   */
  readonly pythonFunctions?: Readonly<Record<string, string>>;
  /** Searches compare meanings too: a model as the configuration names it, or a provider of your own, such as `aiSdkEmbedding(model, …)`. Default: words alone. */
  readonly embedding?: EmbeddingConfig | SearchEmbedding | undefined;
  /** Default: the host's. Another one lets a test, or an example, live through a week. */
  readonly clock?: Clock;
}

/**
 * Opens a gate: tools from functions, MCP servers and other sources, the TypeScript check, the embedded QuickJS sandbox,
 * the journal on SQLite or PostgreSQL. Close it when done; the process can end only then.
 *
 * Errors: `CallgateError` CONFIG_INVALID, MOUNT_REFUSED, TOOL_INVALID, TOOL_DUPLICATE, JOURNAL_*. A source that fails is no error; see
 * `Gate.problems`.
 */
export async function createCallgate(options: CallgateOptions = {}): Promise<Gate> {
  return await createCallgateWith(options, {});
}

/** What many gates of one process can have in common: none keeps anything of a run. Whoever made them closes them. */
export interface SharedParts {
  /** In place of the checkers of TypeScript and JavaScript. */
  readonly checkers?: readonly Checker[];
  /** In place of that of Python; empty where its package is not installed. */
  readonly pythonCheckers?: readonly Checker[];
  /** Judges declarations of tools. */
  readonly specParser?: SpecParser;
}

/** `createCallgate` with parts that are not this gate's own. */
export async function createCallgateWith(options: CallgateOptions, shared: SharedParts): Promise<Gate> {
  const opened: { close(): Promise<void> }[] = [];
  try {
    return await openParts(options, { opened, shared });
  } catch (fault) {
    // Closing twice is no error: the gate has closed what it was given.
    await Promise.allSettled(opened.map((part) => part.close()));
    throw fault;
  }
}

/** @param opened takes what has to be closed where the gate is not opened after all */
async function openParts(options: CallgateOptions, { opened, shared }: { readonly opened: { close(): Promise<void> }[]; readonly shared: SharedParts }): Promise<Gate> {
  const clock = options.clock ?? systemClock();
  const stateFolder = options.stateFolder ?? userFolders().state;
  const folder = options.folder ?? process.cwd();
  const mcp = await serversOf(options, { folder, stateFolder, clock });
  const sql = await sqlSources(options.sql ?? {}, { folder, env: process.env });
  const documents = await documentsSources(options.documents ?? {}, { folder, stateFolder, env: process.env, sql: options.sql ?? {} });
  const services = await servicesOf(options, { folder, stateFolder, env: process.env, clock });
  const templates = options.templatesFolder === undefined || options.templatesFolder === false ? [] : (await import("./folder/folder-templates.ts")).folderTemplates(resolve(folder, options.templatesFolder));
  const policy = await openPolicy(options, folder);
  const scan = options.check?.scan === undefined ? undefined : scanActions(options.check.scan);
  const remote = configuredRemote(options.sandbox ?? {}, { folder, env: process.env });
  const ownPlaces = ownPlacesOf(options.journal ?? {}, { folder, stateFolder });
  // Before the journal, so that a mount that must not be leaves nothing open.
  const sandboxes = await sandboxDrivers(options.sandbox ?? {}, { folder, isLongLived: options.warm ?? false, ownPlaces, ...(remote === undefined ? {} : { remote: remote.launcher }) });
  const { journal, blobs, key, notices, secrets } = await openJournal(options.journal ?? {}, { folder, stateFolder, env: process.env, clock });
  opened.push(journal);
  const secretsOf = configuredSecrets(options.secrets ?? {}, { folder, env: process.env });
  const webhook = openQuestionWebhook(options.approvals, { folder, env: process.env });
  const redis = await openRedis(options.redis, { folder, env: process.env });
  if (redis !== undefined) opened.push(redis.rateStore);
  const answers = openAnswers(options.cache ?? {}, { stateFolder, clock, key, redis });
  if (answers !== undefined) opened.push(answers);
  const declared = Object.entries(options.tools ?? {}).map(([namespace, tools]): Source => functionSource({ namespace, tools }));
  const workflows = workflowsIn(options.workflowsFolder, folder);
  const history = createToolHistory({ stateFolder, folder, nowMs: () => clock.now(), onFault: options.onFault });
  const python = shared.pythonCheckers ?? pythonCheckers({ ...options.python, functions: options.pythonFunctions }, folder);
  const gate = await createGate({
    sources: [...[...declared, ...(options.sources ?? []), ...(workflows === undefined ? [] : [workflows])].map((source) => ({ source })), ...mcp.sources, ...services.sources, ...sql.sources, ...documents.sources],
    checkers: [...(shared.checkers ?? javaScriptCheckers({ packages: options.node?.packages, isAllNode: options.sandbox?.javascript === "node" }, folder)), ...(python.length > 0 ? python : [createGuestChecker("python")]), createGuestChecker("shell"), ...registeredLanguages(options.sandbox ?? {}).map(({ language }) => createGuestChecker(language))],
    drivers: [...(options.drivers ?? []), ...sandboxes.drivers],
    ...(scan === undefined ? {} : { scan }),
    templates,
    journal,
    blobs,
    policy,
    surroundingsOf: surroundingsOf(options),
    approver: options.approver ?? (approvalsConfig(options.approvals).mode === "keep" ? keepingApprover() : denyingApprover()),
    approvals: { ...approvalRules(options.approvals, stateFolder), ...(options.signer === undefined ? {} : { signer: options.signer }), ...(webhook?.answers === undefined ? {} : { webhook: webhook.answers.rule }) },
    redactor: createRedactor({ secrets: [...mcp.secrets, ...services.secrets, ...sql.secrets, ...documents.secrets, ...secrets, ...(redis?.secrets ?? []), ...(remote?.secrets ?? []), ...(webhook?.secrets ?? []), ...(secretsOf?.clear ?? [])], key: key.derive("redactor"), ...(options.detect === undefined ? {} : { detect: options.detect }) }),
    callLimits: callLimitOptions(options, redis?.rateStore),
    interceptors: options.interceptors ?? [],
    ...(isTraced() ? { tracing: (await import("@callgate/runtime/tracing")).createOtelTracing() } : {}),
    ...(secretsOf === undefined ? {} : { secrets: secretsOf.vault }),
    ...(answers === undefined ? {} : { answers }),
    notices: [...notices, ...(redis?.notices ?? []), ...sandboxes.notices],
    clock,
    ...(shared.specParser === undefined ? {} : { specParser: shared.specParser }),
    searchIndex: createSearchIndexFile({ stateFolder, folder, onFault: options.onFault }),
    ...(options.embedding === undefined ? {} : { embedding: await embeddingOf(options.embedding, { stateFolder, folder, onFault: options.onFault }) }),
    ...(options.learnOutputs === false ? {} : { learnOutputs: { store: createLearnedOutputFile({ stateFolder, folder, onFault: options.onFault }) } }),
    listedTools: (namespace, tools) => history.note(namespace, tools),
    warm: options.warm ?? false,
    ...(options.onFault === undefined ? {} : { onFault: options.onFault }),
    defaults: runDefaults(options),
  });
  if (workflows !== undefined) keepWorkflowsChecked(gate, workflows);
  return webhook === undefined ? gate : sendQuestions(gate, webhook, options.onFault ?? (() => undefined));
}

/** What a run has that does not say otherwise. */
function runDefaults(options: CallgateOptions): NonNullable<Parameters<typeof createGate>[0]["defaults"]> {
  return {
    principal: completePrincipal(profilePrincipal(options, undefined)),
    ...(options.limits === undefined ? {} : { limits: definedLimits(options.limits) }),
    ...(options.suspendAfterMs === undefined ? {} : { suspendAfterMs: options.suspendAfterMs }),
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    ...(options.budgetTokens === undefined ? {} : { budgetTokens: options.budgetTokens }),
  };
}

/** Vectors are kept beside the words. */
async function embeddingOf(given: EmbeddingConfig | SearchEmbedding, { stateFolder, folder, onFault }: { readonly stateFolder: string; readonly folder: string; readonly onFault: CallgateOptions["onFault"] }): Promise<SearchEmbedding> {
  const embedding = typeof given.provider === "string" ? (await import("./agent/open-embedding.ts")).openEmbedding(given as EmbeddingConfig, { folder, env: process.env }) : (given as SearchEmbedding);
  return { store: createSearchIndexFile({ stateFolder, folder, kept: "vectors", onFault }), ...(onFault === undefined ? {} : { onFault }), ...embedding };
}

/** Only where there is a server. */
async function serversOf({ mcpServers = {}, eagerSources = false, journal = {}, passThrough, askServerQuestion }: CallgateOptions, { folder, stateFolder, clock }: { readonly folder: string; readonly stateFolder: string; readonly clock: Clock }): Promise<McpSources> {
  if (Object.keys(mcpServers).length === 0) return { sources: [], secrets: [] };
  const [{ mcpSources }, { createPinFiles }, { createSignInFile }] = await Promise.all([import("./mcp-sources.ts"), import("./pins/pin-files.ts"), import("./auth/sign-in-files.ts")]);
  const key = async () => (await openMasterKey(keyFileAt(journal, { folder, stateFolder }))).key;
  const pins = createPinFiles(stateFolder, folder);
  return mcpSources(mcpServers, { folder, env: process.env, clock, isEager: eagerSources, passThrough, askServerQuestion, pinsOf: (namespace) => pins.of(namespace), signInsOf: (url) => createSignInFile(url, { stateFolder, key }) });
}

/** Each kind is loaded only where there is a service of it. */
async function servicesOf({ openapi = {}, graphql = {}, searchApis = {} }: CallgateOptions, host: ServiceHost): Promise<ServiceSources> {
  const made = await Promise.all([
    ...(Object.keys(openapi).length === 0 ? [] : [import("./openapi-sources.ts").then(({ openapiSources }) => openapiSources(openapi, host))]),
    ...(Object.keys(graphql).length === 0 ? [] : [import("./graphql-sources.ts").then(({ graphqlSources }) => graphqlSources(graphql, host))]),
    ...(Object.keys(searchApis).length === 0 ? [] : [import("./search-api/search-api-sources.ts").then(({ searchApiSources }) => searchApiSources(searchApis, host))]),
  ]);
  return { sources: made.flatMap(({ sources }) => sources), secrets: made.flatMap(({ secrets }) => secrets) };
}

/** The limits that are there: the configuration's type also allows `undefined`. */
export function definedLimits(limits: NonNullable<CallgateOptions["limits"]>): Partial<RunLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
