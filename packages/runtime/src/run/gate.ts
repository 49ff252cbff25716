import { randomBytes } from "node:crypto";
import { CallgateError, localPrincipal } from "@callgate/contract";
import type { AgentRecord, BudgetView, CallOptions, Clock, Gate, GateEvent, Principal, ReadOptions, Redactor, RunOptions, RunResult, SearchEmbedding } from "@callgate/contract";
import { createApprovals } from "../approval/approvals.ts";
import { createBroker } from "../broker/broker.ts";
import { createInterceptors } from "../broker/interceptors.ts";
import { createProgramCheck } from "../check/program-check.ts";
import { createLearnedOutputs } from "../catalog/learned/learned-outputs.ts";
import type { LearnedOutputs } from "../catalog/learned/learned-outputs.ts";
import { linkedAbort } from "../lib/linked-abort.ts";
import { budgetViews } from "../limits/budget-views.ts";
import { createCallLimits } from "../limits/call-limits.ts";
import type { CallLimits } from "../limits/call-limits.ts";
import { newId, pooledRandom } from "../lib/new-id.ts";
import { race } from "../lib/race.ts";
import { systemClock } from "../lib/system-clock.ts";
import { minBudgetTokens } from "../result/shape-run.ts";
import { createLazyTokenCounter } from "../result/token-counter.ts";
import { createEventHub } from "../telemetry/event-hub.ts";
import type { EventHub } from "../telemetry/event-hub.ts";
import { labelledPassThrough } from "../provenance/labelled-pass-through.ts";
import { createTaintKeeper } from "../provenance/taint-keeper.ts";
import type { RunTaint } from "../provenance/taint-keeper.ts";
import { conversationScopes } from "../provenance/taint-scopes.ts";
import { openAgentRecord } from "./agent-record.ts";
import { createCatalogKeeper } from "./catalog-keeper.ts";
import type { CatalogKeeper } from "./catalog-keeper.ts";
import { createCatalogViews } from "./catalog-view.ts";
import { closeGate } from "./close-gate.ts";
import { callDirectly } from "./direct-call.ts";
import { createEarlierPrograms } from "./earlier-programs.ts";
import { createGateAudit } from "./gate-audit.ts";
import { createGateCatalog } from "./gate-catalog.ts";
import type { GateCatalog } from "./gate-catalog.ts";
import type { GateDefaults, GateOptions } from "./gate-options.ts";
import { createGateDurable } from "./gate-durable.ts";
import { createGateJobs } from "./gate-jobs.ts";
import { createGatePolicy } from "./gate-policy.ts";
import { createGateRuns } from "./gate-runs.ts";
import { createGateTimeTravel } from "./gate-time-travel.ts";
import { createGateSessions } from "./gate-sessions.ts";
import { nestedRequest } from "./nested-request.ts";
import { replayRun } from "./replay.ts";
import { createJournalHealth } from "./journal-health.ts";
import { createLiveRuns } from "./live-runs.ts";
import { createOwedEnds } from "./owed-ends.ts";
import { createPlanRuns } from "./plan-runs.ts";
import { createResultReader } from "./result-reader.ts";
import type { ResultReader } from "./result-reader.ts";
import type { RunRequest } from "./run-request.ts";
import { createLimitRules } from "./run-limits.ts";
import type { LimitRules } from "./run-limits.ts";
import type { RunSeams } from "./run-scope.ts";
import { createRunner } from "./runner.ts";
import type { Runner } from "./runner.ts";

/**
 * Puts a gate together from its parts and opens its sources.
 *
 * Resolves once the tools made of functions are registered; other sources may still be connecting (`ready`). Programs and
 * calls wait for them.
 *
 * Errors: `CallgateError` TOOL_INVALID and TOOL_DUPLICATE for the user's own tools and for namespaces, USAGE for wrong
 * limits. After an error nothing is left open.
 */
export async function createGate(options: GateOptions): Promise<Gate> {
  const { defaults = {}, sources, onFault } = options;
  const hub = createEventHub(onFault === undefined ? {} : { onFault });
  const parts = await openingParts(options, hub);
  try {
    const keeper = await createCatalogKeeper({ sources, clock: parts.seams.clock, listTimeoutMs: defaults.listTimeoutMs ?? 30_000, secretsFor: (tool) => options.secrets?.namesFor(tool) ?? [], emit: (event) => parts.seams.emit(event), listedTools: options.listedTools, specParser: options.specParser, searchIndex: options.searchIndex, embedding: withoutSecrets(options.embedding, options.redactor), learned: parts.learned });
    return composeGate({ options, hub, keeper, ...parts });
  } catch (fault) {
    await closeGate({ options, hub, broker: parts.seams.broker, check: parts.check });
    throw fault;
  }
}

/** What is wrong with limits is found here; what the gate was given is closed then as well. */
async function openingParts(options: GateOptions, hub: EventHub): Promise<Parts> {
  try {
    return createParts(options, hub);
  } catch (fault) {
    await closeGate({ options, hub });
    throw fault;
  }
}

/** What is asked for may hold a secret that somebody pasted: it does not leave the house with the words around it. */
function withoutSecrets(embedding: SearchEmbedding | undefined, redactor: Redactor): SearchEmbedding | undefined {
  if (embedding === undefined) return undefined;
  const { provider } = embedding;
  const embed: typeof provider.embed = async (texts, signal) => await provider.embed(texts.map((text) => redactor.text(text)), signal);
  return { ...embedding, provider: { model: provider.model, dimensions: provider.dimensions, embed } };
}

interface Parts {
  readonly seams: RunSeams;
  readonly check: ReturnType<typeof createProgramCheck>;
  readonly reader: ResultReader;
  readonly runner: Runner;
  readonly limits: LimitRules;
  readonly callLimits: CallLimits | undefined;
  readonly learned: LearnedOutputs | undefined;
}

function createParts(options: GateOptions, hub: EventHub): Parts {
  const { journal, blobs, policy, approver, redactor, clock = systemClock(), random = pooledRandom(randomBytes), defaults = {}, log } = options;
  const limits = createLimitRules(defaults.limits, defaults.maximums);
  const leaseMs = defaults.leaseMs ?? 30_000;
  budgetOf(defaults.budgetTokens, defaults);
  const observers = new Map<string, (event: GateEvent) => void>();
  const emit = (event: GateEvent): void => {
    options.tracing?.hear(event);
    if ("runId" in event) observers.get(event.runId)?.(event);
    hub.emit(event);
  };
  const counter = options.tokenCounter ?? createLazyTokenCounter();
  const rules = options.approvals ?? {};
  const reviews = createApprovals({ approver, clock, rules, newId: (prefix) => newId(prefix, random) });
  const callLimits = createCallLimits(options.callLimits ?? {}, (namespace, state, retryAfterMs) => emit({ kind: "circuit-changed", atMs: clock.now(), namespace, state, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }));
  const learned = options.learnOutputs === undefined ? undefined : createLearnedOutputs({ store: options.learnOutputs.store, clock });
  const broker = createBroker({ answered: (tool, tenant, value) => learned?.observe(tool, tenant, value), policy, approver, approvals: rules, journal, redactor, blobs, clock, leaseMs, limits: callLimits, answers: options.answers, secrets: options.secrets, tracing: options.tracing, interceptors: createInterceptors(options.interceptors ?? []), emit, newId: (prefix) => newId(prefix, random), ...(log === undefined ? {} : { log }) });
  const seams: RunSeams = {
    broker, reviews, journal, taints: createTaintKeeper(journal), tracing: options.tracing, journalHealth: createJournalHealth(), owedEnds: createOwedEnds(clock), blobs, policy, redactor, clock, random, emit,
    surroundingsOf: options.surroundingsOf ?? ((driver) => ({ launcher: driver.name, mounts: [], network: [], packages: [] })),
    observe(runId, observer) {
      observers.set(runId, observer);
      return () => void observers.delete(runId);
    },
    tokenCounter: () => counter.load(),
    settleGraceMs: defaults.settleGraceMs ?? 2_000,
    leaseMs,
    suspendAfterMs: defaults.suspendAfterMs ?? 2_000,
    live: createLiveRuns(),
  };
  const check = createProgramCheck({ checkers: options.checkers, ...(options.scan === undefined ? {} : { scan: options.scan }) });
  const reader = createResultReader({ journal, blobs });
  const runner = createRunner({
    seams,
    check,
    drivers: options.drivers,
    earlier: createEarlierPrograms(),
    reader: ({ principal, taint }) => (handle, part) => reader.read(handle, part, { principal, taint, budget: undefined, isProgram: true }),
  });
  return { seams, check, reader, runner, limits, callLimits, learned };
}

interface Composition extends Parts {
  readonly options: GateOptions;
  readonly hub: EventHub;
  readonly keeper: CatalogKeeper;
}

function composeGate(composition: Composition): Gate {
  const { options, hub, keeper, seams, reader, runner, check, callLimits } = composition;
  const defaultPrincipal = options.defaults?.principal ?? localPrincipal;
  const catalog = createGateCatalog({ keeper, views: createCatalogViews(options.policy), sources: options.sources, templates: options.templates ?? [], principal: defaultPrincipal, circuitOf: (namespace) => callLimits?.breakers?.view(namespace) });
  const policy = createGatePolicy({ policy: options.policy, keeper, drivers: options.drivers, principal: defaultPrincipal, seams });
  const activity = createActivity();
  const requests = createRequests(composition, catalog, defaultPrincipal);
  if (options.warm === true) warmUp(composition, catalog, defaultPrincipal);
  let closed: Promise<void> | undefined;

  const during = createDuring(composition, activity, () => closed !== undefined);
  const budgetTokens = budgetOf(undefined, options.defaults);
  const blocks = createGateSessions({ ...composition, drivers: options.drivers, seams, principal: defaultPrincipal, maxSessions: options.defaults?.maxSessions ?? 16, isClosed: () => closed !== undefined });
  const durable = createGateDurable({ options, seams, runner, viewFor: (principal) => catalog.viewFor(principal), principal: defaultPrincipal, budgetTokens, during, catalog: () => keeper.current });

  const planned = createPlanRuns({ seams, runner, drivers: options.drivers, rules: options.approvals ?? {}, principal: defaultPrincipal, viewFor: (principal) => catalog.viewFor(principal), ready: () => during(undefined, () => Promise.resolve()), requestFor: (program, run, signal) => requests.forRun(program, run, signal) });

  const runs = createGateRuns({
    seams,
    rules: options.approvals ?? {},
    durable,
    principal: defaultPrincipal, viewFor: (principal) => catalog.viewFor(principal),
    timeTravel: createGateTimeTravel({ seams, runner, drivers: options.drivers, principal: defaultPrincipal, viewFor: (principal) => catalog.viewFor(principal), requestFor: (program, run, signal) => requests.forRun(program, run, signal), during }),
    replay: (run, principal, signal) => during(signal, (linked) => replayRun(seams, { run, view: catalog.viewFor(principal), drivers: options.drivers, budgetTokens, signal: linked })),
  });

  async function runOwn(program: string, run: RunOptions, signal: AbortSignal): Promise<RunResult> {
    const request = requests.forRun(program, run, signal);
    return await runner.run(run.parent === undefined ? request : await nestedRequest(seams, request, { parent: run.parent, isRehearsal: run.rehearse === true, drivers: options.drivers }));
  }

  return {
    ...finding(catalog),
    ready: () => keeper.ready(),
    run: (program, run = {}) => during(run.signal, (signal) => (run.rehearse === true && run.parent === undefined ? planned.rehearse(program, run, signal) : run.session === undefined ? runOwn(program, run, signal) : blocks.run(run.session, run, (language) => requests.forRun(program, { ...run, language }, signal)))),
    apply: (plan, apply = {}) => during(apply.signal, (signal) => planned.apply(plan, apply, signal)),
    plans: planned.plans,
    check: (program, run = {}) => during(run.signal, (signal) => runner.check(requests.forRun(program, run, signal))),
    call: (tool, args, call = {}) => during(call.signal, async (signal) => callDirectly(seams, { tool, args, ...(await requests.forCall(tool, call, signal)) })),
    async read(handle, read = {}) {
      if (closed !== undefined) throw new CallgateError("CLOSED", "The gate was closed");
      return await reader.read(handle, partOf(read), await readerOf(composition, read, defaultPrincipal));
    },
    policy,
    audit: createGateAudit(seams.journal, defaultPrincipal),
    runs,
    sessions: blocks.sessions,
    jobs: createGateJobs({ journal: seams.journal, principal: defaultPrincipal, complete: (callId, result, asker) => runs.complete(callId, result, asker) }),
    approvals: durable.approvals, grants: durable.grants,
    principal: defaultPrincipal,
    budgets: ({ principal = defaultPrincipal } = {}) => readBudgets(options, seams, principal),
    work: durable.work,
    events: () => hub.events(),
    onEvent: (listener) => hub.onEvent(listener),
    recordAgent: (asked) => recordFor(composition, { principal: defaultPrincipal, ...asked }, closed !== undefined),
    passThrough: ({ principal = defaultPrincipal, conversation } = {}) => passThroughFor(composition, catalog, { principal, conversation }),
    get problems() {
      return [...(options.notices ?? []), ...policy.problems(), ...keeper.problems];
    },
    close() {
      closed ??= durable.close().then(() => activity.end()).then(() => closeGate({ options, hub, broker: seams.broker, check, keeper, owedEnds: seams.owedEnds }));
      return closed;
    },
  };
}

/** Runs work with a signal that aborts with the caller's and with the gate. */
type During = <Result>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;

function createDuring({ keeper, seams }: Composition, activity: { readonly during: During }, isClosed: () => boolean): During {
  return async (signal, work) => {
    if (isClosed()) throw new CallgateError("CLOSED", "The gate was closed");
    return await activity.during(signal, async (linked) => {
      if (keeper.missing.length > 0) await inTime(() => keeper.ready(), seams.clock, linked);
      // A source that was down may be back: each use asks, and only a call of its own tools waits for the answer.
      keeper.retry().catch(() => undefined);
      return await work(linked);
    });
  };
}

/** Who reads a result, how much of it, and into whose context it goes. */
async function readerOf({ options, seams }: Pick<Composition, "options" | "seams">, { budgetTokens, conversation, principal: asker }: ReadOptions, defaultPrincipal: Principal): Promise<Parameters<ResultReader["read"]>[2]> {
  const principal = asker ?? defaultPrincipal;
  return { principal, taint: taintOf({ seams }, principal, conversation), budget: { tokens: budgetOf(budgetTokens, options.defaults), counter: await seams.tokenCounter() } };
}

/** Resources and prompts of sources, whose labels reach the context of who reads them. */
function passThroughFor({ seams }: Composition, catalog: GateCatalog, { principal, conversation }: { readonly principal: Principal; readonly conversation: string | undefined }): ReturnType<Gate["passThrough"]> {
  const taint = taintOf({ seams }, principal, conversation);
  return new Map(catalog.passThrough(principal).map(({ namespace, source, labels }) => [namespace, labelledPassThrough(source, { namespace, labels, taint, nowMs: () => seams.clock.now() })]));
}

/** What reaches the context that somebody reads into, outside of runs. */
function taintOf({ seams }: Pick<Composition, "seams">, principal: Principal, conversation: string | undefined): RunTaint {
  return seams.taints.of(principal.tenant, conversationScopes(principal, conversationOf(conversation)), true);
}

function recordFor({ seams, limits }: Composition, { principal, conversation, taskId = principal.task }: Parameters<Gate["recordAgent"]>[0] & { readonly principal: Principal }, isClosed: boolean): AgentRecord {
  if (isClosed) throw new CallgateError("CLOSED", "The gate was closed");
  return openAgentRecord(seams, { principal, limits: limits.defaults, ...(taskId === undefined ? {} : { taskId }), ...namedConversation(conversation) });
}

/** What callers can see of the tools. */
function finding(catalog: GateCatalog): Pick<Gate, "search" | "searchNamespaces" | "templates" | "describe" | "nearest" | "tools" | "namespaces" | "declarations"> {
  return {
    search: (query, search) => catalog.search(query, search),
    searchNamespaces: (query, search) => catalog.searchNamespaces(query, search),
    templates: (asked) => catalog.templates(asked),
    describe: (names, asker) => catalog.describe(names, asker),
    nearest: (name, asker) => catalog.nearest(name, asker),
    tools: (asker) => catalog.tools(asker),
    namespaces: (asker) => catalog.namespaces(asker),
    declarations: (asked) => catalog.declarations(asked),
  };
}

async function readBudgets({ callLimits }: GateOptions, { journal, clock }: RunSeams, { tenant }: Principal): Promise<readonly BudgetView[]> {
  const { budgets = [] } = callLimits ?? {};
  return budgets.length === 0 ? [] : budgetViews(budgets, await journal.readBudgets(tenant), clock.now());
}

function warmUp({ keeper, check, seams }: Composition, catalog: GateCatalog, principal: Principal): void {
  keeper
    .ready()
    .then(() => Promise.all([check.warm("typescript", catalog.viewFor(principal).declarations("typescript")), seams.tokenCounter()]))
    .catch(() => undefined); // The first program tries again, and tells.
}

/** Everything under way, so that closing can end it. */
function createActivity(): { readonly during: During; end(): Promise<void> } {
  const closing = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  return {
    async during(signal, work) {
      const linked = linkedAbort(closing.signal, ...(signal === undefined ? [] : [signal]));
      const working = work(linked.signal);
      underWay.add(working);
      try {
        return await working;
      } finally {
        linked.unlink();
        underWay.delete(working);
      }
    },
    async end() {
      closing.abort(new CallgateError("CLOSED", "The gate was closed"));
      await Promise.allSettled(underWay);
    },
  };
}

/** How long programs and calls wait for sources that are still connecting; then they go on without their tools. */
const readyWaitMs = 10_000;

async function inTime(wait: () => Promise<void>, clock: Clock, signal: AbortSignal): Promise<void> {
  await race(wait, { clock, timeoutMs: readyWaitMs, signal });
}

/** What a caller left open is filled in from the gate's defaults. */
function createRequests({ options, limits, seams, keeper }: Composition, catalog: GateCatalog, defaultPrincipal: Principal) {
  return {
    forRun(program: string, run: RunOptions, signal: AbortSignal): RunRequest {
      if (typeof program !== "string") throw new CallgateError("USAGE", `A program is a text, not ${program === null ? "null" : typeof program}`);
      // A plan knows of no older versions: applied, it would call others. Those of a workflow are locked either time.
      if (run.rehearse === true && run.parent === undefined && run.interfaces !== undefined) throw new CallgateError("USAGE", "A rehearsal calls tools as they are now: give it no interfaces");
      const principal = run.principal ?? defaultPrincipal;
      const bounded = limits.forRun(run.limits);
      return {
        program,
        principal,
        signal,
        view: catalog.viewFor(principal).pinnedTo(run.interfaces ?? {}),
        interfaces: run.interfaces ?? {},
        language: run.language ?? "typescript",
        lane: run.lane ?? "execute",
        limits: bounded.limits,
        notices: bounded.lowered,
        budgetTokens: budgetOf(run.budgetTokens, options.defaults),
        taskId: run.taskId ?? principal.task,
        conversation: conversationOf(run.conversation),
        seed: seedOf(run.seed, seams),
        startedMs: seams.clock.monotonic(),
        recorded: true,
        onFailure: run.onFailure ?? "compensate",
        questions: run.questions,
        ...(run.capabilities === undefined ? {} : { capabilities: run.capabilities }),
        ...(run.parent === undefined ? {} : { parent: run.parent }),
        suspendAfterMs: waitOf(run.suspendAfterMs, seams),
        ...(run.onOutput === undefined ? {} : { onOutput: run.onOutput }),
      };
    },
    async forCall(tool: string, call: CallOptions, signal: AbortSignal) {
      const principal = call.principal ?? defaultPrincipal;
      const isAway = catalog.viewFor(principal).unavailable.some(({ namespace }) => tool.startsWith(`${namespace}.`));
      if (isAway) await inTime(() => keeper.retry(), seams.clock, signal);
      return { principal, signal, view: catalog.viewFor(principal), lane: call.lane ?? ("execute" as const), limits: limits.defaults, budgetTokens: budgetOf(call.budgetTokens, options.defaults), taskId: call.taskId ?? principal.task, questions: call.questions, conversation: conversationOf(call.conversation) };
    },
  };
}

function seedOf(seed: string | undefined, { random }: RunSeams): string {
  if (seed === undefined) return Buffer.from(random(16)).toString("hex");
  if (!/^[0-9a-f]{32}$/i.test(seed)) throw new CallgateError("USAGE", "A seed is 32 hex digits");
  return seed.toLowerCase();
}

function conversationOf(conversation: string | undefined): string | undefined {
  if (conversation === undefined || (conversation.length > 0 && conversation.length <= maxConversationChars && conversation.isWellFormed() && !conversation.includes("\0"))) return conversation;
  throw new CallgateError("USAGE", `A conversation's name is a text of 1 to ${maxConversationChars} characters that is Unicode without a NUL`);
}

function namedConversation(conversation: string | undefined): { readonly conversation?: string } {
  const name = conversationOf(conversation);
  return name === undefined ? {} : { conversation: name };
}

const maxConversationChars = 256;

function waitOf(asked: number | undefined, { suspendAfterMs }: RunSeams): number {
  const wait = asked ?? suspendAfterMs;
  if (!(wait >= 0)) throw new CallgateError("USAGE", `suspendAfterMs must be a number of milliseconds from 0, or Infinity, not ${String(wait)}`);
  return wait;
}

function budgetOf(asked: number | undefined, defaults: GateDefaults | undefined): number {
  const budgetTokens = asked ?? defaults?.budgetTokens ?? 2_000;
  if (!Number.isSafeInteger(budgetTokens) || budgetTokens < minBudgetTokens) throw new CallgateError("USAGE", `budgetTokens must be a whole number from ${minBudgetTokens}, not ${String(budgetTokens)}`);
  return budgetTokens;
}

function partOf({ path, offset, limit, grep, search }: ReadOptions): Pick<ReadOptions, "path" | "offset" | "limit" | "grep" | "search"> {
  return { ...(path === undefined ? {} : { path }), ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }), ...(grep === undefined ? {} : { grep }), ...(search === undefined ? {} : { search }) };
}
