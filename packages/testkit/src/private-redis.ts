// Tests and benchmarks only: a Redis of their own on loopback, in a folder of its own, gone with the process.
import { spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeOwnedFolder } from "./owned-folder.ts";

export interface PrivateRedis {
  readonly url: string;
  readonly pid: number;
  /** Stops the server where it stands, so that it answers nothing; and lets it go on. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** The same server again, empty, on the same port. */
  startAgain(): Promise<void>;
}

function findServer(): string | undefined {
  return ["/usr/bin", ...(process.env["PATH"] ?? "").split(":")].map((folder) => join(folder, "redis-server")).find((file) => existsSync(file));
}

/** Why there is none, or undefined. */
export function missingRedis(): string | undefined {
  return findServer() === undefined ? "no Redis server is installed; apt-get install redis-server brings one" : undefined;
}

export async function startRedis(): Promise<PrivateRedis> {
  const binary = findServer();
  if (binary === undefined) throw new Error(missingRedis());
  const folder = makeOwnedFolder("cg-redis");
  const port = await freePort();
  const start = () => spawn(binary, ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, "--save", "", "--appendonly", "no"], { stdio: "ignore", cwd: folder });
  let server = start();
  const killNow = (): void => void server.kill("SIGKILL");
  process.once("exit", killNow);

  async function up(): Promise<void> {
    for (let tries = 0; !(await answers(port)); tries += 1) {
      if (tries > 200) throw new Error("The Redis of the test does not answer");
      await sleep(50);
    }
  }

  async function down(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    server.kill("SIGKILL");
    await gone;
  }

  await up();
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid ?? -1,
    freeze: () => void server.kill("SIGSTOP"),
    thaw: () => void server.kill("SIGCONT"),
    async stop() {
      await down();
      process.removeListener("exit", killNow);
      rmSync(folder, { recursive: true, force: true });
    },
    async startAgain() {
      await down();
      server = start();
      await up();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("There is no free port");
  return address.port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const over = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => over(data.toString().startsWith("+PONG")));
    socket.once("error", () => over(false));
  });
}
