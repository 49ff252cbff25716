import { randomBytes } from "node:crypto";
import { CallgateError } from "@callgate/contract";
import type { SessionView } from "@callgate/contract";
import { connectSession, lostError } from "../../session/session-client.ts";
import { createSessionRecords } from "../../session/session-records.ts";
import type { SessionRecord, SessionRecords } from "../../session/session-records.ts";
import { startHolder } from "../../session/start-holder.ts";
import { recordOnly } from "../command-context.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { globalArguments } from "../global-arguments.ts";
import { languageNamed, readProgramText } from "../program-file.ts";
import { renderTable } from "../table.ts";
import { counted, duration, visible } from "../terminal.ts";
import { launcherOption, limitsOf, printRun, settingsOf } from "./run.ts";
import type { RunCommandOptions } from "./run.ts";

export interface OpenCommandOptions {
  readonly language?: string;
  readonly memory?: number;
  /** Seconds. */
  readonly idle?: number;
  /** Seconds. */
  readonly total?: number;
  readonly sandbox?: string;
}

/** Records of sessions that ended are kept for so long. */
const keepEndedMs = 7 * 86_400_000;

/** `callgate session open [NAME]` */
export async function openSessionCommand(name: string | undefined, options: OpenCommandOptions, context: CommandContext): Promise<ExitCode> {
  const records = createSessionRecords(context.folders.state);
  forgetOld(records);
  const sessionId = name ?? `s-${randomBytes(4).toString("hex")}`;
  const before = records.read(sessionId);
  if (before !== undefined && (await connectSession(before).state()) !== undefined) throw new CallgateError("USAGE", `There is a session ${sessionId} already; close it, or choose another name`);
  launcherOption(options.sandbox);
  const seconds = 1_000;
  const view = await open(context, records, {
    sessionId,
    language: await languageNamed(options.language ?? "python", context),
    folder: process.cwd(),
    options: {
      ...(options.memory === undefined ? {} : { memoryMiB: options.memory }),
      ...(options.idle === undefined ? {} : { idleMs: options.idle * seconds }),
      ...(options.total === undefined ? {} : { totalMs: options.total * seconds }),
      ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
    },
  });
  const { terminal } = context;
  if (context.options.json === true) terminal.out(`${JSON.stringify(view)}\n`);
  else {
    terminal.out(`${view.sessionId}\n`);
    terminal.err(`${view.language}; it ends after ${duration(view.idleMs)} without a block, or after ${duration(view.totalMs)}\n`);
  }
  return exitCodes.ok;
}

async function open({ options }: CommandContext, records: SessionRecords, { sessionId, language, folder, options: bounds }: Pick<SessionRecord, "sessionId" | "language" | "folder" | "options">): Promise<SessionView> {
  records.remove(sessionId);
  const record: SessionRecord = { sessionId, language, folder, options: bounds, socket: records.socketFor(sessionId), token: randomBytes(32).toString("hex"), pid: 0, openedAtMs: Date.now() };
  records.write(record);
  try {
    return await startHolder<SessionView>({ args: [...globalArguments(options), "session", "hold", sessionId], log: records.logFor(sessionId), folder });
  } catch (fault) {
    records.remove(sessionId);
    throw fault;
  }
}

function forgetOld(records: SessionRecords): void {
  for (const { sessionId, end } of records.list()) if (end !== undefined && Date.now() - end.atMs > keepEndedMs) records.remove(sessionId);
}

function mustRead(records: SessionRecords, sessionId: string): SessionRecord {
  const record = records.read(sessionId);
  if (record === undefined) throw new CallgateError("SESSION_ENDED", `There is no session ${sessionId}; list them with callgate session ls, open one with callgate session open`);
  return record;
}

/** `callgate session run NAME FILE|-` or `-e CODE` */
export async function runBlockCommand(sessionId: string, { file, eval: code, ...options }: RunCommandOptions & { readonly file?: string | undefined; readonly eval?: string }, context: CommandContext): Promise<ExitCode> {
  if ((file === undefined) === (code === undefined)) throw new CallgateError("USAGE", "session run takes a file, - for standard input, or a block with -e");
  const record = mustRead(createSessionRecords(context.folders.state), sessionId);
  const program = code ?? (await readProgramText(file ?? "-"));
  const limits = limitsOf(options);
  const ask = context.approver();
  const message = { program, ...settingsOf(options), ...(Object.keys(limits).length === 0 ? {} : { limits }) };
  const result = await connectSession(record).run(message, { signal: context.signal, ...(ask === undefined ? {} : { ask: (question) => ask.ask(question, context.signal) }) });
  const exit = printRun(result, context, false);
  return context.signal.aborted ? exitCodes.interrupted : exit;
}

interface Listed {
  readonly record: SessionRecord;
  readonly view: SessionView | undefined;
}

/** What a session is in one word, and why where it is over. */
function stateOf({ record, view }: Listed): { readonly state: "idle" | "busy" | "ended" | "lost"; readonly why?: string } {
  if (view !== undefined && view.phase !== "ended") return { state: view.phase };
  if (record.end !== undefined) return { state: "ended", why: record.end.message };
  return view === undefined ? { state: "lost", why: "the process that held it is gone, and its state with it" } : { state: "ended", why: view.loss?.message ?? "" };
}

const listed = async (record: SessionRecord): Promise<Listed> => ({ record, view: record.end === undefined ? await connectSession(record).state() : undefined });

function sessionJson(session: Listed): object {
  const { record: { sessionId, language, folder, openedAtMs, end }, view } = session;
  return { sessionId, language, folder, openedAtMs, ...stateOf(session), ...(view === undefined ? { blocks: end?.blocks ?? null } : { blocks: view.blocks, generation: view.generation, queued: view.queued, idleForMs: Math.round(view.idleForMs), driver: view.driver }) };
}

/** `callgate session ls` */
export async function listSessionsCommand({ terminal, options, folders }: CommandContext): Promise<ExitCode> {
  const all = await Promise.all(createSessionRecords(folders.state).list().map(listed));
  if (options.json === true) terminal.out(`${JSON.stringify(all.map(sessionJson))}\n`);
  else if (all.length === 0) terminal.err("No sessions; open one with callgate session open\n");
  else {
    const rows = all.map((session) => {
      const { record, view } = session;
      const { state, why } = stateOf(session);
      const more = why ?? [view === undefined ? "" : counted(view.blocks, "block"), ...((view?.queued ?? 0) > 0 ? [`${view?.queued ?? 0} waiting`] : []), ...(state === "idle" ? [`idle for ${duration(view?.idleForMs ?? 0)}`] : [])].join(", ");
      return [record.sessionId, record.language, state === "lost" ? terminal.outColors.red(state) : state, visible(more), visible(record.folder)];
    });
    terminal.out(renderTable(["session", "language", "state", "", "folder"], rows, { columns: terminal.outColumns, colors: terminal.outColors }));
  }
  return exitCodes.ok;
}

/** Runs of a journal that are looked through for blocks. */
const maxRuns = 1_000;

/** `callgate session show NAME`: how it stands, and its blocks as they are on record, whether it lives or not. */
export async function showSessionCommand(sessionId: string, context: CommandContext): Promise<ExitCode> {
  const { terminal, options, folders } = context;
  const record = createSessionRecords(folders.state).read(sessionId);
  const session = record === undefined ? undefined : await listed(record);
  return await context.withGate(async (gate) => {
    const blocks = (await gate.runs.list({ limit: maxRuns })).filter((run) => run.session?.sessionId === sessionId).reverse();
    if (session === undefined && blocks.length === 0) throw new CallgateError("SESSION_ENDED", `There is no session ${sessionId}, and no block of one is on record; list them with callgate session ls`);
    const rows = blocks.map(({ runId, status, session: place, programText = "" }) => ({ block: place?.block ?? 0, generation: place?.generation ?? 0, runId, status, program: programText }));
    if (options.json === true) terminal.out(`${JSON.stringify({ ...(session === undefined ? { sessionId, state: "ended" } : sessionJson(session)), runs: rows })}\n`);
    else {
      const { state, why } = session === undefined ? { state: "ended", why: undefined } : stateOf(session);
      terminal.out(`${terminal.outColors.bold(sessionId)} ${state}${why === undefined ? "" : `: ${visible(why)}`}\n`);
      if (rows.length > 0) terminal.out(renderTable(["block", "generation", "status", "run", "program"], rows.map(({ block, generation, runId, status, program }) => [String(block), String(generation), status, runId, visible(program.trim().split("\n")[0] ?? "")]), { columns: terminal.outColumns, colors: terminal.outColors }));
    }
    return exitCodes.ok;
  }, { ...recordOnly, interactive: false });
}

/** `callgate session interrupt NAME` */
export async function interruptSessionCommand(sessionId: string, context: CommandContext): Promise<ExitCode> {
  const view = await connectSession(mustRead(createSessionRecords(context.folders.state), sessionId)).interrupt();
  return tell(view, `${sessionId} is ${view.phase}; its state is kept where its block lets itself be interrupted`, context);
}

/** `callgate session restart NAME`: with nothing, also where the process that held it is gone. */
export async function restartSessionCommand(sessionId: string, context: CommandContext): Promise<ExitCode> {
  const records = createSessionRecords(context.folders.state);
  const record = mustRead(records, sessionId);
  const client = connectSession(record);
  const lives = record.end === undefined && (await client.state()) !== undefined;
  const view = lives ? await client.restart() : await open(context, records, record);
  return tell(view, `${sessionId} begins anew; what was defined and written in it is gone`, context);
}

/** `callgate session close NAME` */
export async function closeSessionCommand(sessionId: string | undefined, { all = false }: { readonly all?: boolean }, context: CommandContext): Promise<ExitCode> {
  if ((sessionId === undefined) !== all) throw new CallgateError("USAGE", "session close takes the name of a session, or --all");
  const records = createSessionRecords(context.folders.state);
  const { terminal } = context;
  for (const record of sessionId === undefined ? records.list() : [mustRead(records, sessionId)]) {
    let how = "closed";
    try {
      if (record.end !== undefined) throw lostError(record);
      await connectSession(record).close();
    } catch (fault) {
      if (!CallgateError.is(fault) || fault.code !== "SESSION_ENDED") throw fault;
      how = "had ended";
    }
    records.remove(record.sessionId);
    if (context.options.json !== true) terminal.out(`${record.sessionId} ${how}\n`);
  }
  if (context.options.json === true) terminal.out(`${JSON.stringify({ closed: true })}\n`);
  return exitCodes.ok;
}

function tell(view: SessionView, text: string, { terminal, options }: CommandContext): ExitCode {
  terminal.out(options.json === true ? `${JSON.stringify(view)}\n` : `${text}\n`);
  return exitCodes.ok;
}
