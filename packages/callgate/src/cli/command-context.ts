import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CallgateError } from "@callgate/contract";
import type { Approver, AskServerQuestion, Gate, ShownApproval } from "@callgate/contract";
import type { SandboxConfig } from "../config/config-schema.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { createTrustStore } from "../folder/trust-store.ts";
import type { TrustStore } from "../folder/trust-store.ts";
import { userFolders } from "../state-folder.ts";
import { askYesNo } from "./ask-yes-no.ts";
import type { LiveView } from "./live-view.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { processTerminal } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { createTtyApprover } from "./tty-approver.ts";
import { leavingApprover } from "./leaving-approver.ts";
import type { LockedKey } from "./tty-approver.ts";

/** Options every command takes. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly trust?: boolean;
  readonly profile?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly role?: readonly string[];
}

/** For a command that needs the record and no source. */
export const recordOnly = { about: [] } as const;

/** How a command uses its gate. */
interface GateUse {
  /** False where nobody may be asked. Default true. */
  readonly interactive?: boolean;
  /** True for a process that lives long. Default false. */
  readonly warm?: boolean;
  /** Hears of what no caller does. Default: standard error. */
  readonly onFault?: (fault: unknown) => void;
  /** `--sandbox`: over the configuration's `sandbox.launcher`. */
  readonly launcher?: SandboxConfig["launcher"];
  /** True where Ctrl-C leaves a question open, for whoever goes on with its run. Default false: its call is cancelled. */
  readonly keepsQuestions?: boolean;
  /** Who is asked, where it is not the person at this terminal. */
  readonly approver?: Approver;
  /** Who is asked what MCP servers want to know, where it is not the person at this terminal. */
  readonly askServerQuestion?: AskServerQuestion;
  /** How long sources are waited for before `use`. Default: until each has answered or failed. */
  readonly readyWithinMs?: number;
  /** True where every source is to be connected, called or not. Default false. */
  readonly eagerSources?: boolean;
  /** The one MCP server that is to be handed on unchanged. */
  readonly passThrough?: string | undefined;
  /** The sources whose problems matter to the command, by namespace or the tools it names; "told" where it tells all itself. Default: all. */
  readonly about?: readonly string[] | "told";
}

/** What a command is given: terminal, interruption, and a gate on demand. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Aborted on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly options: GlobalOptions;
  readonly trust: TrustStore;
  readonly folders: ReturnType<typeof userFolders>;
  /** The configuration of this folder, and the folder that its relative paths start in; trusted before it is read. */
  readonly configuration: () => Promise<LoadedConfig>;
  /** Throws where code of the folder may not be run: NOT_TRUSTED. */
  readonly ensureTrust: (folder: string) => Promise<void>;
  /** The sandbox part of it. */
  readonly sandboxConfig: () => Promise<{ readonly config: SandboxConfig; readonly folder: string }>;
  /** The person at this terminal, where there is one. */
  readonly approver: () => Approver | undefined;
  /** Opens the gate of this folder, hands it to `use`, closes it whatever happens. */
  withGate<Result>(use: (gate: Gate, view: LiveView) => Promise<Result>, how?: GateUse): Promise<Result>;
}

/** Builds the context of one command of this process. */
export function createCommandContext(options: GlobalOptions, signal: AbortSignal): CommandContext {
  const terminal = processTerminal();
  const folders = userFolders();
  const trust = createTrustStore(folders.state);
  async function configuration(): Promise<LoadedConfig> {
    const [{ findConfigFile }, { loadTrusted }] = await Promise.all([import("../config/load-config.ts"), import("../open-gate.ts")]);
    const configFile = options.config === undefined ? findConfigFile(process.cwd()) : resolve(options.config);
    return await loadTrusted({ configFile, folder: process.cwd(), folders, ensureTrust: (trusted) => ensureTrust(trusted, { options, terminal, trust, signal }) });
  }
  const credential = async (): Promise<LockedKey | undefined> => (await import("./locked-key.ts")).lockedKey(folders.state);
  return {
    terminal,
    signal,
    options,
    trust,
    folders,
    configuration,
    ensureTrust: (folder) => ensureTrust(folder, { options, terminal, trust, signal }),
    async sandboxConfig() {
      const { config, folder } = await configuration();
      return { config: config.sandbox ?? {}, folder };
    },
    approver: () => ttyApprover(terminal, { view: () => undefined, credential }),
    async withGate(use, how = {}) {
      // Most of the program hangs on these two; init, trust and a usage error do without them.
      const [{ findConfigFile }, { openGate }] = await Promise.all([import("../config/load-config.ts"), import("../open-gate.ts")]);
      const { createLiveView } = await import("./live-view.ts");
      const configFile = options.config === undefined ? findConfigFile(process.cwd()) : resolve(options.config);
      let view: LiveView | undefined;
      const opened: { gate?: Gate } = {};
      const { approver, askServerQuestion } = peopleOf(how, { terminal, signal, view: () => view, credential, show: async (approvalId) => await opened.gate?.approvals.show(approvalId) });
      const gate = await openGate({
        configFile,
        folder: process.cwd(),
        folders,
        ensureTrust: (folder) => ensureTrust(folder, { options, terminal, trust, signal }),
        profile: options.profile ?? process.env["CALLGATE_PROFILE"],
        principal: { user: options.user, tenant: options.tenant, roles: options.role },
        warm: how.warm ?? false,
        ...(how.eagerSources === undefined ? {} : { eagerSources: how.eagerSources }),
        ...(how.passThrough === undefined ? {} : { passThrough: how.passThrough }),
        onFault: how.onFault ?? ((fault) => terminal.err(`${terminal.colors.yellow("note")} ${firstLine(fault instanceof Error ? fault.message : String(fault))}\n`)),
        ...(askServerQuestion === undefined ? {} : { askServerQuestion }),
        ...(how.launcher === undefined ? {} : { launcher: how.launcher }),
        ...(approver === undefined ? {} : { approver }),
      });
      opened.gate = gate;
      try {
        // A command about no source does not wait for any.
        if (how.about?.length !== 0) await readyWithin(gate, how.readyWithinMs, signal);
        for (const line of notesOf(problemsToTell(gate, how.about))) terminal.err(`${terminal.colors.yellow("note")} ${line}\n`);
        view = options.json === true ? createLiveView(gate, { ...terminal, interactive: false }) : createLiveView(gate, terminal);
        return await use(gate, view);
      } finally {
        view?.close();
        await gate.close();
      }
    },
  };
}

type AtTerminal = Parameters<typeof ttyApprover>[1] & { readonly terminal: Terminal; readonly signal: AbortSignal };

/** Who answers what is asked while a command has its gate. */
function peopleOf(how: GateUse, { terminal, signal, ...at }: AtTerminal): { readonly approver?: Approver; readonly askServerQuestion?: AskServerQuestion } {
  const inTurn = oneAtATime();
  const found = how.approver ?? (how.interactive === false ? undefined : ttyApprover(terminal, at));
  const asked: Approver | undefined = found === undefined ? undefined : { ask: (question, asking) => inTurn(() => found.ask(question, asking)) };
  const approver = asked !== undefined && how.keepsQuestions === true ? leavingApprover(asked, signal) : asked;
  const pauses = { pause: () => at.view()?.pause(), resume: () => at.view()?.resume() };
  const atTerminal: AskServerQuestion = (question, asking) => inTurn(async () => (await import("./server-asker.ts")).createServerAsker({ terminal, input: process.stdin, output: process.stderr, ...pauses })(question, asking));
  const isAtTerminal = how.interactive !== false && process.stdin.isTTY && process.stderr.isTTY;
  const askServerQuestion = how.askServerQuestion ?? (isAtTerminal ? atTerminal : undefined);
  return { ...(approver === undefined ? {} : { approver }), ...(askServerQuestion === undefined ? {} : { askServerQuestion }) };
}

/** Throws the reason of `signal`: who presses Ctrl-C does not wait for a slow source. */
async function readyWithin(gate: Gate, ms: number | undefined, signal: AbortSignal): Promise<void> {
  const waited = new AbortController();
  const given = AbortSignal.any([waited.signal, signal]);
  const late = setTimeout(ms ?? 0x7fff_ffff, undefined, { signal: given }).catch(() => undefined);
  await Promise.race([gate.ready(), late]);
  waited.abort();
  signal.throwIfAborted();
}

/** What is no source's matter, such as the journal's, concerns every command. */
function problemsToTell(gate: Gate, about: GateUse["about"]): readonly string[] {
  if (about === "told") return [];
  if (about === undefined) return gate.problems;
  const ours = new Set(about.map((name) => name.split(".")[0]));
  const others = gate.namespaces().map(({ namespace }) => namespace).filter((namespace) => !ours.has(namespace));
  return gate.problems.filter((problem) => !others.some((namespace) => problem.startsWith(`${namespace}: `)));
}

/** More than two would hide what was asked for. */
function notesOf(problems: readonly string[]): readonly string[] {
  return problems.length > 2 ? [`${problems.length} things do not work here; callgate doctor tells each, with what to do`] : problems.map(firstLine);
}

/** Problems are told in one line by every command; doctor tells all of them. */
function firstLine(problem: string): string {
  const [first = "", ...more] = problem.split("\n");
  return more.length === 0 ? first : `${first} callgate doctor says more.`;
}

/** A person can be asked only where both ends are a terminal; elsewhere the default applies and writes are denied. */
function ttyApprover(terminal: Terminal, { view, credential, show }: { readonly view: () => LiveView | undefined; readonly credential: () => Promise<LockedKey | undefined>; readonly show?: (approvalId: string) => Promise<ShownApproval | undefined> }): Approver | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return createTtyApprover({
    terminal,
    input: process.stdin,
    user: "terminal",
    now: () => Date.now(),
    credential,
    ...(show === undefined ? {} : { show }),
    pause: () => view()?.pause(),
    resume: () => view()?.resume(),
  });
}

async function ensureTrust(folder: string, { options, terminal, trust, signal }: Pick<CommandContext, "options" | "terminal" | "trust" | "signal">): Promise<void> {
  if (trust.has(folder)) return;
  if (options.trust === true) {
    trust.add(folder);
    return;
  }
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CallgateError("NOT_TRUSTED", `${folder} holds tools or a configuration that were not trusted yet, so nothing of it was loaded; look at it, then run: callgate trust "${folder}"   (or pass --trust)`);
  }
  const yes = await askYesNo(`Load tools and configuration from ${folder}? They run with your rights.`, terminal, signal);
  if (!yes) throw new CallgateError("NOT_TRUSTED", `${folder} was not trusted; nothing of it was loaded`);
  trust.add(folder);
}
