import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { loadDenoSandbox } from "./deno-sandbox.ts";

/** A user namespace in which no further one can be made, as on a host that forbids them. */
const blocked = ["--user", "--map-root-user", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh"];
const canBlock = process.platform === "linux" && spawnSync("unshare", [...blocked, "sh", "-c", "! unshare -U true"]).status === 0;
const deno = await (await loadDenoSandbox())?.createDenoLauncher().probe();
const skip = !canBlock ? "needs Linux, unshare and user namespaces, to forbid them" : deno?.kind !== "ready" ? "needs @callgate/sandbox-deno" : undefined;

describe.skipIf(skip !== undefined)(`auto where user namespaces are forbidden and no engine answers${skip === undefined ? "" : ` (skipped: ${skip})`}`, { timeout: 240_000 }, () => {
  const home = mkdtempSync(join(tmpdir(), "callgate-blocked-"));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  interface Said {
    readonly results: readonly { readonly language: string; readonly status: string; readonly value?: { readonly value: unknown }; readonly error?: { readonly code: string; readonly message: string }; readonly driver: string }[];
    readonly problems: readonly string[];
  }
  const run = (sandbox: object): Said => {
    const script = fileURLToPath(new URL("fixtures/blocked-namespaces.ts", import.meta.url));
    const { stdout, stderr } = spawnSync("unshare", [...blocked, process.execPath, script, join(home, "state"), JSON.stringify(sandbox)], { encoding: "utf8", timeout: 200_000, env: { PATH: process.env["PATH"] ?? "", HOME: home, DOCKER_HOST: "unix:///nowhere/docker.sock", CONTAINER_HOST: "unix:///nowhere/podman.sock" } });
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout) as Said;
  };

  test("Python runs in Deno and that is said, JavaScript in the embedded sandbox, shell is refused with what to do; nothing runs without walls", () => {
    const { results, problems } = run({});
    expect(results).toMatchObject([
      { language: "python", status: "completed", value: { value: 10 }, driver: "deno" },
      { language: "typescript", status: "completed", value: { value: 2 }, driver: "quickjs" },
      { language: "shell", status: "crashed", error: { code: "SANDBOX_CRASHED", message: expect.stringMatching(/the sandbox auto does not work here: bubblewrap: .*may not become the user.*docker: no docker answers/s) } },
    ]);
    expect(problems).toEqual([expect.stringMatching(/^Python runs in Deno .*bubblewrap: .*docker: .*To do: .*sandbox\.launcher: "deno"/s)]);
    expect(JSON.stringify(results)).not.toMatch(/local-unsafe/);
  });

  test("where programs are given mounts or a network, Python is refused, not run without them", () => {
    const { results, problems } = run({ network: { allow: ["api.example.com:443"] } });
    expect(results[0]).toMatchObject({ language: "python", status: "crashed" });
    expect(problems).toEqual([]);
  });
});
