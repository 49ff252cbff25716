import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeOwnedFolder } from "./owned-folder.ts";

test("what killed tests left is removed, with the server that runs in it; what others use and what is called otherwise stays", async () => {
  const within = mkdtempSync(join(tmpdir(), "callgate-owned-"));
  const dead = spawnSync(process.execPath, ["-e", "console.log(process.pid)"], { encoding: "utf8" }).stdout.trim();
  const left = join(within, `server-${dead}-abc`);
  mkdirSync(join(left, "data"), { recursive: true });
  writeFileSync(join(left, "data/file"), "x");
  mkdirSync(join(within, "server-notes"));
  mkdirSync(join(within, `other-${dead}-abc`));
  const server = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1_000)", `${left}/data`], { stdio: "ignore" });
  const ended = once(server, "exit");
  const mine = makeOwnedFolder("server", within);
  const second = makeOwnedFolder("server", within);
  if (process.platform === "linux") expect((await ended)[1]).toBe("SIGKILL");
  else server.kill();
  expect(readdirSync(within).toSorted()).toEqual([`other-${dead}-abc`, "server-notes", ...[mine, second].map((path) => path.slice(within.length + 1))].toSorted());
  expect(existsSync(mine)).toBe(true);
  rmSync(within, { recursive: true });
});
