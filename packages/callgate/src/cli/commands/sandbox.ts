import { checkWalls } from "@callgate/sandbox-process";
import { allLaunchers } from "../../sandbox-driver.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";

/** `callgate sandbox ls` */
export async function listSandboxesCommand({ terminal, options }: CommandContext): Promise<ExitCode> {
  const rows = await Promise.all(allLaunchers().map(async (launcher) => ({ name: launcher.name, probe: await launcher.probe() })));
  if (options.json === true) terminal.out(`${JSON.stringify(rows)}\n`);
  else {
    const said = rows.map(({ name, probe }) => [name, probe.kind === "ready" ? terminal.outColors.green("ready") : terminal.outColors.yellow("unavailable"), probe.kind === "ready" ? probe.missing.join("; ") : `${probe.reason}; to do: ${probe.fix}`]);
    terminal.out(renderTable(["sandbox", "", "missing"], said, { columns: terminal.outColumns, colors: terminal.outColors }));
  }
  return exitCodes.ok;
}

/** `callgate sandbox doctor`: every wall of the sandbox that `auto` would take, tried from inside. */
export async function sandboxDoctorCommand({ terminal, options }: CommandContext): Promise<ExitCode> {
  const [launcher] = allLaunchers();
  const probe = await launcher?.probe();
  if (launcher === undefined || probe?.kind !== "ready") {
    const said = probe?.kind === "unavailable" ? `${probe.reason}\n  to do: ${probe.fix}` : "there is none";
    terminal.out(options.json === true ? `${JSON.stringify({ sandbox: launcher?.name, probe, walls: [] })}\n` : `${launcher?.name ?? "sandbox"} does not work here: ${said}\n`);
    return exitCodes.failed;
  }
  const walls = await checkWalls(launcher);
  if (options.json === true) terminal.out(`${JSON.stringify({ sandbox: launcher.name, probe, walls })}\n`);
  else {
    const { outColors: colors } = terminal;
    terminal.out(renderTable([`${launcher.name}: wall`, "", "found"], walls.map(({ wall, state, found }) => [wall, state === "holds" ? colors.green("holds") : colors.red("open"), found]), { columns: terminal.outColumns, colors }));
    for (const missing of probe.missing) terminal.out(`missing: ${missing}\n`);
  }
  return walls.every(({ state }) => state === "holds") ? exitCodes.ok : exitCodes.failed;
}
