import { checkWalls } from "@callgate/sandbox-process";
import { denoLauncher, loadDenoSandbox } from "../../deno-sandbox.ts";
import { allLaunchers, configuredRemote, launcherOf } from "../../sandbox-driver.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";

/** `callgate sandbox ls`: every launcher, and which one `auto` takes. */
export async function listSandboxesCommand({ terminal, options, sandboxConfig }: CommandContext): Promise<ExitCode> {
  const { config, folder } = await sandboxConfig();
  const own = allLaunchers(config);
  const deno = await denoLauncher();
  const remote = configuredRemote(config, { folder, env: process.env });
  const [auto, all] = [[...own.auto, deno], [...(remote === undefined ? [] : [remote.launcher]), ...own.all.slice(0, -1), deno, ...own.all.slice(-1)]];
  const rows = await Promise.all(all.map(async (launcher) => ({ launcher, probe: await launcher.probe() })));
  const taken = auto.find((launcher) => rows.some((row) => row.launcher === launcher && row.probe.kind === "ready"));
  for (const launcher of all) await launcher.close?.();
  const found = rows.map(({ launcher, probe }) => ({ name: launcher.name, isAuto: launcher === taken, probe }));
  if (options.json === true) terminal.out(`${JSON.stringify(found)}\n`);
  else {
    const { outColors: colors } = terminal;
    const said = found.map(({ name, isAuto, probe }) => [isAuto ? `${name} (auto)` : name, probe.kind === "ready" ? colors.green("ready") : colors.yellow("unavailable"), probe.kind === "ready" ? probe.missing.join("; ") : `${probe.reason}; to do: ${probe.fix}`]);
    terminal.out(renderTable(["sandbox", "", "missing"], said, { columns: terminal.outColumns, colors }));
  }
  return exitCodes.ok;
}

/** `callgate sandbox doctor`: every wall of the sandbox that is configured, tried from inside. */
export async function sandboxDoctorCommand({ terminal, options, sandboxConfig }: CommandContext): Promise<ExitCode> {
  const { config, folder } = await sandboxConfig();
  const { launcher: named } = config;
  const remote = configuredRemote(config, { folder, env: process.env })?.launcher;
  const launcher = remote ?? (named === "deno" || named === "remote" ? await denoLauncher() : launcherOf({ ...config, launcher: named }));
  const probe = await launcher.probe();
  if (probe.kind !== "ready") {
    terminal.out(options.json === true ? `${JSON.stringify({ sandbox: launcher.name, probe, walls: [] })}\n` : `${launcher.name} does not work here: ${probe.reason}\n  to do: ${probe.fix}\n`);
    return exitCodes.failed;
  }
  const walls = named === "deno" ? ((await (await loadDenoSandbox())?.checkDenoWalls(launcher)) ?? []) : await checkWalls(launcher);
  await launcher.close?.();
  if (options.json === true) terminal.out(`${JSON.stringify({ sandbox: launcher.name, probe, walls })}\n`);
  else {
    const { outColors: colors } = terminal;
    terminal.out(renderTable([`${launcher.name}: wall`, "", "found"], walls.map(({ wall, state, found }) => [wall, state === "holds" ? colors.green("holds") : colors.red("open"), found]), { columns: terminal.outColumns, colors }));
    for (const missing of probe.missing) terminal.out(`missing: ${missing}\n`);
  }
  return walls.every(({ state }) => state === "holds") ? exitCodes.ok : exitCodes.failed;
}
