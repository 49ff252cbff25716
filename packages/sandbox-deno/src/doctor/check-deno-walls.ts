import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Launcher, WallCheck } from "@callgate/sandbox-process";

const bounds = { memoryMiB: 64, processes: 8, workspaceMiB: 0, workspaceFiles: 0, openFiles: 64 };
const walls = ["files of the host", "changes to files", "what lasts between runs", "network", "foreign code", "environment", "processes of the host", "a way to more permissions", "memory"];
const canaryName = "CALLGATE_CANARY";

/**
 * Tries to get through each wall of a launcher of Deno, from inside, some thirty ways in one process. The launcher must be
 * `ready`. The file, the port and the variable of the host that it looks for are made for it, and removed.
 */
export async function checkDenoWalls(launcher: Launcher): Promise<readonly WallCheck[]> {
  const folder = mkdtempSync(join(tmpdir(), "callgate-doctor-"));
  const canary = join(folder, "canary.txt");
  writeFileSync(canary, "canary");
  const listener = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
  let connections = 0;
  listener.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const had = process.env[canaryName];
  process.env[canaryName] = "canary";
  try {
    const { port } = listener.address() as AddressInfo;
    const said = await askInside(launcher, [canary, `${port}`]);
    const found = walls.map((wall) => lastWord(said, wall));
    if (existsSync(`${canary}.owned`)) found.push({ wall: "changes to files", state: "open", found: "a file was written" });
    if (connections > 0) found.push({ wall: "network", state: "open", found: `${connections} connections came` });
    return found;
  } finally {
    if (had === undefined) delete process.env[canaryName];
    else process.env[canaryName] = had;
    listener.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function askInside(launcher: Launcher, given: readonly string[]): Promise<string> {
  const guest = launcher.launch({ command: ["{guest}", ...given], guestFile: new URL("../../guests/walls.js", import.meta.url), environment: {}, bounds, mounts: [] });
  const patience = setTimeout(() => guest.kill(), 30_000);
  guest.commands.end();
  const [said] = await Promise.all([text(guest.frames), text(guest.stderr), guest.exited]);
  clearTimeout(patience);
  return said;
}

/** What was said of a wall last; a guest that said nothing proves nothing. */
function lastWord(said: string, wall: string): WallCheck {
  const line = said.split("\n").findLast((one) => one.startsWith(`${wall}\t`))?.split("\t") ?? [];
  return { wall, state: line[1] === "HOLDS" ? "holds" : "open", found: line[2] ?? "the attempt said nothing, so nobody can tell" };
}
