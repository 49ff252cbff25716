import { execFileSync, spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrapLauncher } from "@callgate/sandbox-process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate, defineTool } from "./index.ts";
import type { CallgateOptions } from "./index.ts";
import { callgateBin, compiledCode } from "./cli/fixtures/cli-project.ts";
import { runCommand } from "./cli/fixtures/run-command.ts";

const probe = await createBubblewrapLauncher().probe();
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const why = probe.kind !== "ready" ? ` (skipped: ${probe.reason}; ${probe.fix})` : hasOpenssl ? "" : " (skipped: needs openssl for its certificate)";

/** A server of guests as a process of its own, which can be killed. */
describe.skipIf(why !== "")(`callgate sandbox serve${why}`, { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-remote-"));
  const folder = join(root, "project");
  const token = "a token of 32 characters, random";
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, ...compiledCode, XDG_STATE_HOME: join(root, "state"), XDG_CONFIG_HOME: join(root, "config"), CALLGATE_SANDBOX_TOKEN: token };
  let server: { readonly child: ChildProcess; readonly url: string };

  const callgate = (args: readonly string[]) => runCommand(args, { cwd: folder, env });

  async function serve(...more: readonly string[]): Promise<typeof server> {
    const child = spawn(process.execPath, [callgateBin, "sandbox", "serve", "--port", "0", "--cert", join(root, "cert.pem"), "--key", join(root, "key.pem"), ...more], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.on("data", (bytes: Buffer) => {
        said += bytes.toString();
        const found = /tls:\/\/[\d.:]+/.exec(said)?.[0];
        if (found !== undefined) resolve(found);
      });
      child.once("exit", () => reject(new Error(said)));
    });
    return { child, url };
  }

  beforeAll(async () => {
    mkdirSync(folder);
    execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=guests", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", join(root, "key.pem"), "-out", join(root, "cert.pem")], { stdio: "ignore" });
    server = await serve("--grace", "1");
    const sandbox = { launcher: "remote", remote: { url: server.url, token: "env:CALLGATE_SANDBOX_TOKEN", ca: "../cert.pem" } };
    writeFileSync(join(folder, "callgate.json"), JSON.stringify({ sandbox }));
    expect(callgate(["trust"]).status).toBe(0);
  });
  afterAll(() => {
    server.child.kill("SIGKILL");
    rmSync(root, { recursive: true, force: true });
  });

  test("a program of this folder runs on the other host; ls and doctor try it", () => {
    const run = callgate(["exec", "-l", "python", "-e", "import os\nprint(os.getuid(), os.getcwd())\n6 * 7"]);
    expect(run).toMatchObject({ status: 0, stdout: expect.stringContaining("42") });
    expect(run.stderr + run.stdout).toContain("65534 /workspace");
    const ls = JSON.parse(callgate(["--json", "sandbox", "ls"]).stdout) as readonly { readonly name: string; readonly probe: { readonly kind: string } }[];
    expect(ls[0]).toMatchObject({ name: "remote", probe: { kind: "ready" } });
    const doctor = callgate(["--json", "sandbox", "doctor"]);
    const said = JSON.parse(doctor.stdout) as { readonly sandbox: string; readonly walls: readonly { readonly wall: string; readonly state: string; readonly found: string }[] };
    expect(said.sandbox).toBe("remote");
    expect(said.walls.filter(({ state }) => state !== "holds")).toEqual([]);
    expect(said.walls.length).toBeGreaterThan(10);
  });

  test("a server that dies in the middle of a run: the run is crashed, and says which effects happened", async () => {
    const doomed = await serve();
    const options: CallgateOptions = {
      folder,
      stateFolder: join(root, "state-2"),
      rules: [{ allow: "crm.*" }],
      sandbox: { launcher: "remote", remote: { url: doomed.url, token: "env:REMOTE_TEST_TOKEN", ca: "../cert.pem" } },
      tools: { crm: [defineTool({ name: "add", description: "Adds a customer", effect: "write", input: z.object({ id: z.number() }), handler: ({ id }) => { if (id === 2) doomed.child.kill("SIGKILL"); return { id }; } })] },
    };
    process.env["REMOTE_TEST_TOKEN"] = token;
    const gate = await createCallgate(options);
    try {
      const ran = gate.run("from tools import crm\ncrm.add(id=1)\ncrm.add(id=2)\ncrm.add(id=3)", { language: "python" });
      // The server comes back at the same place, without the guest.
      await new Promise((resolve) => doomed.child.once("exit", resolve));
      const again = await serve("--port", new URL(doomed.url).port);
      const result = await ran;
      again.child.kill("SIGKILL");
      expect(result).toMatchObject({ status: "crashed", error: { message: expect.stringMatching(/guest on the server/) } });
      expect(result.calls.map(({ outcome, effectStatus }) => [outcome, effectStatus])).toEqual([["ok", "done"], ["ok", "done"]]);
    } finally {
      delete process.env["REMOTE_TEST_TOKEN"];
      await gate.close();
    }
  });

  test("what is wrong with its options is said before it listens", () => {
    const said = (args: readonly string[], more: Readonly<Record<string, string>> = {}) => runCommand(["sandbox", "serve", "--port", "0", ...args], { cwd: folder, env: { ...env, ...more } });
    expect(said([])).toMatchObject({ status: expect.not.stringMatching("0"), stderr: expect.stringContaining("without TLS") });
    expect(said(["--unsafe-plain-loopback", "--host", "0.0.0.0"]).stderr).toContain("not served in clear");
    expect(said(["--token", "in-clear-on-the-command-line"]).stderr).toContain("is a reference");
    expect(said(["--cert", join(root, "cert.pem"), "--key", join(root, "key.pem"), "--token", "env:NOWHERE"]).stderr).toContain("NOWHERE");
  });

  test("where programs go is configured with a reference, never with the token itself", async () => {
    await expect(createCallgate({ folder, stateFolder: join(root, "state-3"), sandbox: { launcher: "remote" } })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("sandbox.remote") });
    writeFileSync(join(root, "clear.json"), JSON.stringify({ sandbox: { launcher: "remote", remote: { url: server.url, token } } }));
    expect(callgate(["--trust", "--config", join(root, "clear.json"), "exec", "-l", "python", "-e", "1"]).stderr).toMatch(/reference/);
  });
});
