import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isWholeRun, processesNamed } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ordinaryUser } from "../../../sandbox-process/src/fixtures/run-as-user.ts";
import { startTestEngine, whyNoEngine } from "../../../sandbox-process/src/fixtures/test-engine.ts";
import type { TestEngine } from "../../../sandbox-process/src/fixtures/test-engine.ts";
import { createCodeExecutor, defineTool } from "../index.ts";
import type { CodeBlock, CodeExecutor, CodeExecutorOptions } from "../index.ts";

const py = (code: string): CodeBlock => ({ language: "python", code });
const sh = (code: string): CodeBlock => ({ language: "sh", code });
const nobody = 65_534;

const asUser = fileURLToPath(new URL("../fixtures/execute-as-user.ts", import.meta.url));

/** Containers are slow to start: each run tries that the executor works in one, and whole runs all that it promises. */
const inWholeRuns = isWholeRun ? test : test.skip;

for (const kind of isWholeRun ? (["docker", "podman"] as const) : (["docker"] as const)) {
  const skip = whyNoEngine(kind);
  describe.skipIf(skip !== undefined)(`createCodeExecutor, in ${kind}${skip === undefined ? "" : ` (skipped: ${skip})`}`, { timeout: 240_000 }, () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "callgate-blocks-")));
    let engine: TestEngine;
    let image: string;
    let executor: CodeExecutor;
    const workDir = join(root, "work");
    const open = ({ sandbox, ...options }: CodeExecutorOptions = {}): Promise<CodeExecutor> =>
      createCodeExecutor({ stateFolder: join(root, "state"), ...options, sandbox: { launcher: kind, container: { engines: [engine.socketPath], image }, ...sandbox } });
    beforeAll(async () => {
      engine = await startTestEngine(kind);
      image = await engine.nodeImage();
      executor = await open({ workDir });
    }, 240_000);
    afterAll(async () => {
      await executor.close();
      await engine.close();
      rmSync(root, { recursive: true, force: true });
    }, 240_000);

    test("blocks of every language work in the named folder, which the user keeps; the next block sees their files", async () => {
      const result = await executor.execute([
        py("# filename: src/prices.py\nprices = [1, 2, 3]\nopen('prices.txt', 'w').write(str(sum(prices)))"),
        { language: "node", code: 'import { readFileSync, writeFileSync } from "node:fs";\nwriteFileSync("doubled.txt", String(2 * Number(readFileSync("prices.txt", "utf8"))));' },
        sh("cat doubled.txt; mkdir made; echo >made/file"),
        py("from src.prices import prices\nlen(prices)"),
      ]);
      expect(result, result.text).toMatchObject({ exitCode: 0, stdout: "12", value: { value: 3 } });
      expect(readdirSync(workDir).filter((name) => name !== "out").toSorted()).toEqual(["doubled.txt", "made", "prices.txt", "src"]);
      expect(readFileSync(join(workDir, "src/prices.py"), "utf8")).toContain("prices = [1, 2, 3]");
    });

    inWholeRuns("files of out/ come back by the block that made them, with their bytes", async () => {
      const result = await executor.execute([py("open('out/a.txt', 'w').write('first')"), sh("echo second >out/b.txt")]);
      expect(result.blocks.map(({ artifacts }) => artifacts.map(({ name }) => name))).toEqual([["a.txt"], ["b.txt"]]);
      const [file] = result.artifacts;
      const read = file === undefined ? undefined : await executor.gate.read(file.handle);
      expect(read?.kind === "artifact" && Buffer.from(read.bytes).toString()).toBe("first");
    });

    test("a block over its time ends with 124, keeps its output, and nothing of it lives", async () => {
      // Its time counts from before its container is there, which takes seconds on a machine that does other things.
      await using own = await open({ workDir, timeoutMs: 15_000 });
      await own.execute([py("1"), sh("true")]);
      const mark = `callgate-marked-${kind}-${process.pid}`;
      const [python, shell] = await Promise.all([own.execute([py("print('partial')\nwhile True: pass"), py("1")]), own.execute([sh(`echo begun; (exec -a ${mark} sleep 90) & sleep 90`)])]);
      expect([python, shell].map(({ exitCode, timedOut, stdout, notRun }) => [exitCode, timedOut, stdout, notRun])).toEqual([[124, true, "partial\n", 1], [124, true, "begun\n", 0]]);
      expect(processesNamed(`${mark}\0`)).toEqual([]);
    });

    inWholeRuns("a cancelled block ends with 125 and keeps its output; the executor goes on", async () => {
      const controller = new AbortController();
      const printed = Promise.withResolvers<void>();
      const mark = `callgate-cancelled-${kind}-${process.pid}`;
      const running = executor.execute([sh(`echo begun; exec -a ${mark} sleep 60`), sh("echo next")], { signal: controller.signal, onOutput: () => printed.resolve() });
      await printed.promise;
      controller.abort();
      expect(await running).toMatchObject({ exitCode: 125, timedOut: false, stdout: "begun\n", notRun: 1, blocks: [{ status: "cancelled" }] });
      expect(processesNamed(`${mark}\0`)).toEqual([]);
      expect((await executor.execute([sh("echo again")])).stdout).toBe("again\n");
    });

    inWholeRuns("how blocks end: an error, an exit code, a signal, memory, a command that is not there", async () => {
      const codes = [];
      for (const block of [py("1/0"), sh("exit 7"), sh("kill -SEGV $$"), sh("no-such-command-here")]) codes.push((await executor.execute([block])).exitCode);
      expect(codes).toEqual([1, 7, 139, 127]);
      expect(await executor.execute([py("x = bytearray(2_000_000_000)")])).toMatchObject({ exitCode: 137, timedOut: false, blocks: [{ error: { code: "LIMIT_EXCEEDED" } }] });
    });

    test("tools, functions and a session of blocks that keeps its state", async () => {
      const balance = defineTool({ name: "balance", description: "The balance", effect: "read", input: z.object({}), output: z.object({ cents: z.number() }), handler: () => ({ cents: 5 }) });
      await using own = await open({ workDir, tools: { bank: [balance] }, functions: { source: 'def twice(n: int) -> int:\n    """Doubles."""\n    return 2 * n\n' } });
      expect(await own.execute([py("from functions import twice\nfrom tools import bank\ntwice(bank.balance()['cents'])")])).toMatchObject({ exitCode: 0, value: { value: 10 } });
      const { sessionId } = own.gate.sessions.open({ language: "python" });
      await own.gate.run("from functions import twice\nn = twice(4)\nopen('of-session.txt', 'w').write(str(n))", { session: sessionId });
      expect(await own.gate.run("n + 1", { session: sessionId })).toMatchObject({ status: "completed", value: { value: 9 }, session: { stateKept: true } });
      await own.gate.sessions.close(sessionId);
      expect(readFileSync(join(workDir, "of-session.txt"), "utf8")).toBe("8");
    });

    inWholeRuns("a folder of the executor's own works and is gone with it, and so is every container", async () => {
      const own = await open();
      expect(await own.execute([{ ...sh("mkdir -p deep/er; echo x >deep/er/data.txt; ls"), filename: "a.sh" }])).toMatchObject({ exitCode: 0, stdout: "a.sh\ndeep\nout\n" });
      await own.close();
      expect(existsSync(own.workDir)).toBe(false);
    });

    inWholeRuns("a folder that programs cannot write to is refused with what to do; one that only root can reach is none of it", async () => {
      const closed = join(root, "closed");
      mkdirSync(closed, { mode: 0o700 });
      await expect(open({ workDir: closed })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("chown 65534") });
      const inner = join(closed, "inner");
      mkdirSync(inner);
      chownSync(inner, nobody, nobody);
      await using own = await open({ workDir: inner });
      expect((await own.execute([sh("echo x >file")])).exitCode).toBe(0);
      expect(statSync(join(inner, "file")).uid).toBe(nobody);
    });

    inWholeRuns("started by an ordinary user, programs are that user: what they make is the user's, and can be removed", async () => {
      chmodSync(dirname(engine.socketPath), 0o711);
      chmodSync(engine.socketPath, 0o666);
      const home = join(root, "home");
      mkdirSync(join(home, "work"), { recursive: true });
      for (const folder of [home, join(home, "work")]) chownSync(folder, ordinaryUser, ordinaryUser);
      chmodSync(root, 0o711);
      const execute = (options: object): unknown => {
        const blocks = [sh("mkdir -p made/deep; echo x >made/deep/file; id -u"), py("open('made/deep/file').read() + open('/tmp/t', 'w').name")];
        const { stdout, stderr } = spawnSync(process.execPath, [asUser, JSON.stringify({ ...options, blocks, stateFolder: join(home, "state"), sandbox: { launcher: kind, container: { engines: [engine.socketPath], image } } })], { encoding: "utf8", timeout: 200_000, cwd: home, env: { PATH: "/usr/bin:/bin", HOME: home } });
        expect(stdout, stderr).not.toBe("");
        return JSON.parse(stdout);
      };
      const named = execute({ workDir: join(home, "work") });
      expect(named, JSON.stringify(named)).toMatchObject({ exitCode: 0, stdout: `${ordinaryUser}\n`, problems: [] });
      expect(statSync(join(home, "work/made/deep/file")).uid).toBe(ordinaryUser);
      const { workDir: own, ...result } = execute({}) as { readonly workDir: string };
      expect(result).toMatchObject({ exitCode: 0, problems: [] });
      expect(existsSync(own)).toBe(false);
    });

    inWholeRuns("packages of a project by a mount; overlapping executors stay apart", async () => {
      const packages = join(root, "site-packages");
      mkdirSync(join(packages, "shapes"), { recursive: true });
      writeFileSync(join(packages, "shapes/__init__.py"), "def area(a, b):\n    return a * b\n");
      chmodSync(packages, 0o755);
      await using own = await open({ sandbox: { mounts: [{ host: packages, guest: "/packages", mode: "ro" }], environment: { PYTHONPATH: "/packages" } }, python: { modules: ["shapes"] } });
      const [one, other] = await Promise.all([own.execute([py("import shapes\nopen('mine', 'w')\nshapes.area(3, 4)")]), executor.execute([sh("ls mine /packages || echo apart")])]);
      expect(one).toMatchObject({ exitCode: 0, value: { value: 12 } });
      expect(other.stdout).toBe("apart\n");
    });
  });
}
