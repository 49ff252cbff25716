import { dirname, resolve } from "node:path";
import { findConfigFile } from "../../config/load-config.ts";
import { connectDaemon } from "../../daemon/daemon-client.ts";
import { createDaemonRecords, daemonIdOf } from "../../daemon/daemon-records.ts";
import type { DaemonRecord } from "../../daemon/daemon-records.ts";
import { reachDaemon } from "../../daemon/reach-daemon.ts";
import type { ReachOptions } from "../../daemon/reach-daemon.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { globalArguments } from "../global-arguments.ts";
import { renderTable } from "../table.ts";
import { counted, duration } from "../terminal.ts";

const defaultIdleSeconds = 600;

/** `callgate daemon start` */
export async function startDaemonCommand({ idle }: { readonly idle?: number }, context: CommandContext): Promise<ExitCode> {
  const { socket, clients } = await reachDaemon(reachOf(context, idle), { kind: "status" });
  socket.destroy();
  context.terminal.err(`The process that clients of this configuration share is there (${counted(clients, "client")}): callgate mcp --shared\n`);
  return exitCodes.ok;
}

/** `callgate daemon status` */
export async function daemonStatusCommand(context: CommandContext): Promise<ExitCode> {
  const records = createDaemonRecords(context.folders.state);
  const current = daemonIdOf(placeOf(context));
  const found = await Promise.all(records.list().map(async (record) => ({ record, clients: await clientsOf(record) })));
  const living = found.flatMap(({ record, clients }) => (clients === undefined ? [] : [{ record, clients }]));
  // Left behind by a process that was killed.
  for (const { record, clients } of found) if (clients === undefined && record.pid !== 0) records.remove(record.daemonId);
  const { terminal } = context;
  if (context.options.json === true) {
    terminal.out(`${JSON.stringify(living.map(({ record: { daemonId, pid, configFile, folder, startedAtMs, idleMs }, clients }) => ({ daemonId, pid, configFile: configFile ?? null, folder, startedAtMs, idleMs, clients, isCurrent: daemonId === current })))}\n`);
    return exitCodes.ok;
  }
  if (living.length === 0) terminal.out("None. callgate mcp --shared starts one.\n");
  else terminal.out(renderTable(["process", "serves", "clients", "up", ""], living.map(({ record, clients }) => [String(record.pid), record.configFile ?? record.folder, String(clients), duration(Date.now() - record.startedAtMs), record.daemonId === current ? "this configuration" : ""]), { columns: terminal.columns, colors: terminal.colors, flexible: 1 }));
  return exitCodes.ok;
}

/** `callgate daemon stop [--all]` */
export async function stopDaemonCommand({ all }: { readonly all?: boolean }, context: CommandContext): Promise<ExitCode> {
  const records = createDaemonRecords(context.folders.state);
  const { configFile, folder } = placeOf(context);
  // Those of older versions of the file too.
  const meant = records.list().filter((record) => all === true || (record.configFile ?? record.folder) === (configFile ?? folder));
  let stopped = 0;
  for (const record of meant) {
    const connection = await connectDaemon(record, { kind: "stop" });
    connection?.socket.destroy();
    if (connection !== undefined) stopped += 1;
    else if (record.pid !== 0) records.remove(record.daemonId);
  }
  context.terminal.err(stopped === 0 ? "There was none to stop\n" : `Stopped ${stopped === 1 ? "it" : String(stopped)}; calls that were under way are cancelled, and what they did is on record (callgate runs ls)\n`);
  return exitCodes.ok;
}

/** `callgate mcp --shared`: standard input and output of a client, handed on. */
export async function sharedMcpCommand(context: CommandContext): Promise<ExitCode> {
  const { user, tenant, role, profile = process.env["CALLGATE_PROFILE"] } = context.options;
  const principal = { ...(user === undefined ? {} : { user }), ...(tenant === undefined ? {} : { tenant }), ...(role === undefined ? {} : { roles: [...role] }) };
  const { socket } = await reachDaemon(reachOf(context, undefined), { kind: "serve", ...(profile === undefined ? {} : { profile }), principal });
  const closed = new Promise<void>((gone) => {
    socket.once("close", gone);
    if (context.signal.aborted) gone();
    else context.signal.addEventListener("abort", () => gone(), { once: true });
  });
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  await closed;
  process.stdin.unpipe(socket);
  process.stdin.pause();
  socket.destroy();
  return exitCodes.ok;
}

async function clientsOf(record: DaemonRecord): Promise<number | undefined> {
  const connection = await connectDaemon(record, { kind: "status" }).catch(() => undefined);
  connection?.socket.destroy();
  return connection?.clients;
}

function placeOf({ options }: CommandContext): { readonly configFile: string | undefined; readonly folder: string } {
  const configFile = options.config === undefined ? findConfigFile(process.cwd()) : resolve(options.config);
  return { configFile, folder: configFile === undefined ? process.cwd() : dirname(configFile) };
}

function reachOf(context: CommandContext, idleSeconds: number | undefined): ReachOptions {
  const { configFile, folder } = placeOf(context);
  // Who acts is said by each client; the process is nobody's in particular.
  const { config: _config, user: _user, tenant: _tenant, role: _role, profile: _profile, ...rest } = context.options;
  return {
    records: createDaemonRecords(context.folders.state),
    daemonId: daemonIdOf({ configFile, folder }),
    configFile,
    folder,
    globalArguments: globalArguments({ ...rest, ...(configFile === undefined ? {} : { config: configFile }) }),
    idleMs: (idleSeconds ?? defaultIdleSeconds) * 1_000,
  };
}
