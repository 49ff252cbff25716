import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrapLauncher } from "@callgate/sandbox-process";
import { processesNamed } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCodeExecutor, defineTool } from "../index.ts";
import type { CodeBlock, CodeExecutor, CodeExecutorOptions, CodeResult, OutputPart } from "../index.ts";

const launcher = createBubblewrapLauncher();
const probe = await launcher.probe();
const why = probe.kind === "ready" ? "" : ` (skipped: ${probe.reason}; ${probe.fix})`;

const root = mkdtempSync(join(tmpdir(), "callgate-blocks-"));
// Started by root, programs are another user, who has to pass here.
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A folder that programs can use, as a user would have one. */
function userFolder(name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  if (launcher.guestUser !== undefined) chownSync(path, launcher.guestUser.uid, launcher.guestUser.gid);
  return realpathSync(path);
}

const open = (options: CodeExecutorOptions = {}): Promise<CodeExecutor> => createCodeExecutor({ stateFolder: join(root, "state"), ...options });
const py = (code: string): CodeBlock => ({ language: "python", code });
const sh = (code: string): CodeBlock => ({ language: "sh", code });

describe.skipIf(probe.kind !== "ready")(`createCodeExecutor, in bubblewrap${why}`, { timeout: 120_000 }, () => {
  const workDir = probe.kind === "ready" ? userFolder("work") : root;
  let executor: CodeExecutor;
  const run = (...blocks: CodeBlock[]): Promise<CodeResult> => executor.execute(blocks);
  beforeAll(async () => {
    executor = await open({ workDir });
  });
  afterAll(() => executor.close());

  test("agent-and-executor 47: blocks run in order, output by block and in all; after one that fails nothing runs", async () => {
    expect(await run(py("print('hello world!')"))).toMatchObject({ exitCode: 0, stdout: "hello world!\n", stderr: "", timedOut: false });
    const two = await run(py("print(1)"), sh("echo 2"));
    expect([two.exitCode, two.stdout, two.blocks.map(({ stdout }) => stdout)]).toEqual([0, "1\n2\n", ["1\n", "2\n"]]);
    const three = await run(py("print('first')"), sh("echo second; exit 7"), py("print('third')"));
    expect(three).toMatchObject({ exitCode: 7, stdout: "first\nsecond\n", notRun: 1 });
    expect(three.blocks).toHaveLength(2);
    expect(three.text).toContain("One block was not run");
    expect(await run()).toMatchObject({ exitCode: 0, blocks: [], stdout: "" });
  });

  test("agent-and-executor 48: an unknown language is exit code 1 with the languages there are; earlier output is kept", async () => {
    const result = await run(sh("echo before"), { language: "cobol", code: "x" }, sh("echo after"));
    expect(result).toMatchObject({ exitCode: 1, stdout: "before\n", notRun: 1, blocks: [{}, { status: "rejected", error: { code: "UNKNOWN_LANGUAGE" } }] });
    expect(result.text).toContain("unknown language cobol; there are python (py, python3");
    expect(executor.languages).toEqual(["python", "shell", "javascript", "typescript", "node"]);
    expect(executor.prompt).toContain("shell (bash, sh)");
  });

  test("agent-and-executor 49: a named file is kept where it was named, also when the executor closes", async () => {
    const result = await run(py("# filename: test.py\nprint(1)"), { language: "typescript", code: "// filename: a.ts\n1 + 1" }, { language: "sh", code: "#!/bin/sh\n# filename: run.sh\necho 3" }, { ...sh("cat test.py"), filename: "named.sh" });
    expect(result.blocks.map(({ filename, exitCode }) => [filename, exitCode])).toEqual([["test.py", 0], ["a.ts", 0], ["run.sh", 0], ["named.sh", 0]]);
    expect(result.blocks[3]?.stdout).toBe("# filename: test.py\nprint(1)");
    expect(["test.py", "a.ts", "run.sh", "named.sh"].map((name) => existsSync(join(workDir, name)))).toEqual([true, true, true, true]);
    const folder = userFolder("kept");
    const own = await open({ workDir: folder });
    await own.execute([{ ...sh("echo data >data.txt"), filename: "kept.sh" }]);
    await own.close();
    expect(readdirSync(folder).sort()).toEqual(["data.txt", "kept.sh"]);
  });

  test("agent-and-executor 50: a name outside of the folder writes and runs nothing; odd names have a meaning", async () => {
const outside = userFolder("outside");
    symlinkSync(outside, join(workDir, "out-link"));
    symlinkSync(join(outside, "new.py"), join(workDir, "file-link.py"));
    for (const name of ["/etc/x.py", "../x.py", "a/../../x.py", "out-link/x.py", "file-link.py", "C:/x.py", "a\\b.py"]) {
      const result = await executor.execute([{ ...py("print('ran')"), filename: name }]);
      expect([name, result.exitCode, result.stdout, result.blocks[0]?.error?.code]).toEqual([name, 1, "", "FILE_REFUSED"]);
      if (!name.includes("\\")) expect(result.blocks[0]?.error?.message).toContain("not in the workspace");
    }
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(join(root, "x.py"))).toBe(false);
    for (const name of ["", "  ", "src/", "src/."]) expect((await executor.execute([{ ...py("1"), filename: name }])).blocks[0]?.error?.message).toContain("names no file");
    expect((await executor.execute([py("# filename:\nprint(1)")])).exitCode).toBe(1);
    const nested = await executor.execute([py("# filename: src/deep/a.py\nvalue = 5"), py("# filename: a:b.py\nfrom src.deep.a import value\nvalue")]);
    expect(nested).toMatchObject({ exitCode: 0, value: { kind: "whole", value: 5 } });
    expect([existsSync(join(workDir, "src/deep/a.py")), existsSync(join(workDir, "a:b.py"))]).toEqual([true, true]);
    mkdirSync(join(workDir, "folder.py"));
    expect((await executor.execute([{ ...py("1"), filename: "folder.py" }])).blocks[0]?.error?.message).toContain("is no file");
    expect((await executor.execute([{ ...py("1"), filename: `${"x".repeat(300)}.py` }])).exitCode).toBe(1);
  });

  test("agent-and-executor 50: a program that puts a link in a folder's place leads no later file out of it", async () => {
    const folder = userFolder("links");
    const outside = userFolder("target");
    const own = await open({ workDir: folder });
    const result = await own.execute([sh(`ln -s ${outside} src; ln -s ${outside}/f.py plain.py; mkfifo pipe.py`)]);
    expect(result.exitCode).toBe(0);
    for (const filename of ["src/f.py", "plain.py", "pipe.py"]) expect((await own.execute([{ ...py("1"), filename }])).exitCode).toBe(1);
    expect(readdirSync(outside)).toEqual([]);
    await own.close();
  });

  test("agent-and-executor 51, 52, 53: a block over its time ends with 124, keeps its output, and nothing it started goes on", async () => {
    // Long enough that each has printed, on a machine that does other things, too.
    const own = await open({ workDir, timeoutMs: 10_000 });
    const marked = "callgate-marked-53";
    const results = await Promise.all([
      own.execute([py("import time\nprint('partial')\ntime.sleep(90)")]),
      own.execute([py("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('deaf')\nwhile True: time.sleep(1)")]),
      own.execute([sh(`echo begun; (exec -a ${marked} sleep 90) & setsid bash -c 'exec -a ${marked} sleep 90' & sleep 90`)]),
      own.execute([py("print('busy')\nwhile True: pass")]),
    ]);
    expect(results.map(({ exitCode, timedOut, stdout }) => [exitCode, timedOut, stdout])).toEqual([[124, true, "partial\n"], [124, true, "deaf\n"], [124, true, "begun\n"], [124, true, "busy\n"]]);
    expect(results[0]?.blocks[0]).toMatchObject({ status: "limit", error: { code: "LIMIT_EXCEEDED", details: { limit: "wallMs" } } });
    for (const { durationMs } of results) expect(durationMs).toBeLessThan(60_000);
    expect(processesNamed(marked)).toEqual([]);
    await own.close();
  });

  test("agent-and-executor 54: an aborted block ends with 125 and its processes with it; a signal that is aborted starts nothing", async () => {
    const controller = new AbortController();
    const printed = Promise.withResolvers<void>();
    const running = executor.execute([sh("echo begun; exec -a callgate-marked-54 sleep 60"), sh("echo next")], { signal: controller.signal, onOutput: () => printed.resolve() });
    await printed.promise;
    controller.abort();
    expect(await running).toMatchObject({ exitCode: 125, timedOut: false, stdout: "begun\n", notRun: 1, blocks: [{ status: "cancelled" }] });
    expect(processesNamed("callgate-marked-54")).toEqual([]);
    const before = (await executor.gate.runs.list({ limit: 1_000 })).length;
    const never = await executor.execute([{ ...py("open('made', 'w')"), filename: "never.py" }], { signal: AbortSignal.abort() });
    expect(never).toMatchObject({ exitCode: 125, blocks: [{ status: "cancelled" }] });
    expect([existsSync(join(workDir, "never.py")), existsSync(join(workDir, "made"))]).toEqual([false, false]);
    expect(await executor.gate.runs.list({ limit: 1_000 })).toHaveLength(before);
  });

  test("agent-and-executor 55: bytes that are no text are replaced, and a character that comes in pieces is whole", async () => {
    const result = await run(sh("printf '\\377\\376'; printf '\\360\\237'; sleep 0.2; printf '\\230\\200\\n'"), py("import sys, os, time\nos.write(1, b'\\xff\\xf0\\x9f')\ntime.sleep(0.2)\nos.write(1, b'\\x98\\x80')"));
    expect(result).toMatchObject({ exitCode: 0, blocks: [{ stdout: "\ufffd\ufffd😀\n" }, { stdout: "\ufffd😀" }] });
  });

  test("agent-and-executor 56: streams apart, and together in the order in which it came, while it comes", async () => {
    const heard: [OutputPart, number][] = [];
    const result = await executor.execute([py("import sys\nprint('A')\nprint('B', file=sys.stderr)\nprint('C')"), sh("echo D; sleep 0.3; echo E >&2; sleep 0.3; printf F")], { onOutput: (part, block) => heard.push([part, block]) });
    expect([result.stdout, result.stderr]).toEqual(["A\nC\nD\nF", "B\nE\n"]);
    expect(result.output.map(({ stream, text }) => `${stream} ${text}`)).toEqual(["stdout A\n", "stderr B\n", "stdout C\n", "stdout D\n", "stderr E\n", "stdout F"]);
    expect(heard).toEqual([...result.blocks.entries()].flatMap(([block, { output }]) => output.map((part) => [part, block])));
  });

  test("agent-and-executor 57: of 50 MB beginning and end are kept, and to the byte what is missing", async () => {
    const total = 50_000_000;
    // A busy machine takes minutes for what a quiet one does in seconds.
    const own = await open({ workDir, timeoutMs: 240_000 });
    const result = await own.execute([py(`import sys\nline = 'é' * 24 + '\\n'\nsys.stdout.write('begin\\n')\nfor _ in range(${Math.trunc((total - 10) / 50 / 9)}):\n    sys.stdout.write(line * 9)\nsys.stdout.write('\\nend\\n')`)]);
    await own.close();
    expect(result).toMatchObject({ exitCode: 0, truncated: true });
    const written = 6 + Math.trunc((total - 10) / 50 / 9) * 9 * 49 + 5;
    const mark = /… (\d+) bytes of output left out …\n/.exec(result.stdout);
    expect(Number(mark?.[1])).toBe(result.droppedBytes);
    const kept = Buffer.byteLength(result.stdout) - Buffer.byteLength(mark?.[0] ?? "");
    // The mark stands on a line of its own: the line before it may have been ended for it.
    expect([0, 1]).toContain(kept + result.droppedBytes - written);
    expect([result.stdout.startsWith("begin\n"), result.stdout.endsWith("\nend\n"), result.stdout.includes("\ufffd")]).toEqual([true, true, false]);
    expect(kept).toBeLessThanOrEqual(64 * 1024 + 1);
    await expect(open({ limits: { consoleBytes: 0 } })).rejects.toMatchObject({ code: "USAGE" });
  }, 300_000);

  test("agent-and-executor 58: the environment is what was allowed, and no more", async () => {
    process.env["OPENAI_API_KEY"] = "canary-7f3a";
    process.env["CALLGATE_TEST_REGION"] = "eu";
    try {
      const own = await open({ workDir, sandbox: { passEnvironment: ["CALLGATE_TEST_REGION", "CALLGATE_TEST_UNSET"], environment: { MODE: "test" } } });
      const result = await own.execute([sh("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")]);
      expect(result.stdout).toContain("CALLGATE_TEST_REGION=eu");
      expect(result.stdout).toContain("MODE=test");
      expect(JSON.stringify(result)).not.toContain("canary-7f3a");
      expect(result.stdout).not.toContain("CALLGATE_TEST_UNSET");
      await own.close();
    } finally {
      delete process.env["OPENAI_API_KEY"];
      delete process.env["CALLGATE_TEST_REGION"];
    }
  });

  test("agent-and-executor 59: there is no input: reading it ends at once", async () => {
    expect(await run(sh("read line; echo \"read $? $line\""))).toMatchObject({ exitCode: 0, stdout: "read 1 \n" });
    expect(await run(py("input()"))).toMatchObject({ exitCode: 1, blocks: [{ error: { message: expect.stringContaining("EOFError") } }] });
  });

  test("agent-and-executor 60: the same code twice at once", async () => {
    const results = await Promise.all(Array.from({ length: 4 }, () => executor.execute([py("import time\ntime.sleep(0.2)\nprint('same')"), sh("sleep 0.2; echo same")])));
    expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(Array.from({ length: 4 }, () => [0, "same\nsame\n"]));
  });

  test("agent-and-executor 61: closing removes what is the executor's own; after it the executor says that it was closed", async () => {
    const own = await open();
    const result = await own.execute([{ ...sh("echo x >data.txt; ls"), filename: "a.sh" }]);
    expect(result.stdout).toBe("a.sh\ndata.txt\nout\n");
    expect(existsSync(join(own.workDir, "a.sh"))).toBe(true);
    await own.close();
    await own.close();
    expect(existsSync(own.workDir)).toBe(false);
    await expect(own.execute([sh("true")])).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("agent-and-executor 62: a timeout of 0 is refused; a signal is 128 and its number, and named", async () => {
    for (const timeoutMs of [0, -1, 1.5, Number.NaN]) await expect(open({ timeoutMs })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await run(py("import os\nprint('before')\nos.kill(os.getpid(), 9)"))).toMatchObject({ exitCode: 137, signal: "SIGKILL", stdout: "before\n" });
    expect(await run(sh("echo before; kill -SEGV $$"))).toMatchObject({ exitCode: 139, stdout: "before\n" });
    expect(await run(py("x = bytearray(2_000_000_000)"))).toMatchObject({ exitCode: 137, timedOut: false, blocks: [{ error: { code: "LIMIT_EXCEEDED" } }] });
  });

  test("agent-and-executor 63: a program that is not there is 127 and named", async () => {
    expect(await run(sh("pwsh -c ls"))).toMatchObject({ exitCode: 127, stderr: expect.stringContaining("pwsh") });
  });

  test("agent-and-executor 64: an executor that cannot do its work says so as a result, and works again", async () => {
    const folder = userFolder("gone");
    const own = await open({ workDir: folder });
    rmSync(folder, { recursive: true });
    const named = await own.execute([{ ...py("print(1)"), filename: "a.py" }]);
    expect(named).toMatchObject({ exitCode: 1, blocks: [{ error: { code: "FILE_REFUSED", message: expect.stringContaining("ENOENT") } }] });
    // A guest that waits already has the folder that was; the next one cannot be started.
    await own.execute([sh("true")]);
    const result = await own.execute([sh("echo 1")]);
    expect([result.exitCode, result.blocks[0]?.status, result.blocks[0]?.error?.code]).toEqual([126, "crashed", "SANDBOX_CRASHED"]);
    await own.close();
    await expect(executor.execute([{ language: "python" } as unknown as CodeBlock])).rejects.toMatchObject({ code: "USAGE" });
    expect((await run(sh("echo again"))).stdout).toBe("again\n");
  });

  test("agent-and-executor 66: policy, scanner and record hold on every path", async () => {
    const paid: unknown[] = [];
    const pay = defineTool({ name: "pay", description: "Pays", effect: "write", input: z.object({ cents: z.number() }), handler: (args) => { paid.push(args); return {}; } });
    const balance = defineTool({ name: "balance", description: "The balance", effect: "read", input: z.object({}), output: z.object({ cents: z.number() }), handler: () => ({ cents: 5 }) });
    // Named by arguments, so that the tool is there for the module: what denies is the broker.
    const usable = await open({ workDir, tools: { bank: [pay, balance] }, rules: [{ deny: "bank.pay", when: { args: { "/cents": { gt: 0 } } } }], functions: { source: 'def buy(cents: int):\n    """Buys."""\n    from tools import bank\n    return bank.pay(cents=cents)\n' } });
    const denied = "from tools import bank\nbank.pay(cents=1)";
    const paths = [
      await usable.execute([py(denied)]),
      await usable.execute([{ ...py(denied), filename: "pay.py" }]),
      await usable.execute([py("from pay import *")]),
      await usable.execute([py("from functions import buy\nbuy(1)")]),
      await usable.executeMarkdown(`\`\`\`python\n${denied}\n\`\`\``),
      await usable.execute([{ language: "ts", code: "await tools.bank.pay({ cents: 1 })" }]),
    ];
    for (const result of paths) expect(result.exitCode, result.text).toBe(1);
    expect(paid).toEqual([]);
    expect((await usable.execute([py("from tools import bank\nbank.balance()['cents']")])).value).toMatchObject({ value: 5 });
    for (const code of ["import os\nos.system('ls')", "import subprocess\nsubprocess.run('ls', shell=True)"]) {
      const result = await usable.execute([{ ...py(code), filename: "scanned.py" }]);
      expect(result).toMatchObject({ exitCode: 1, blocks: [{ status: "rejected" }] });
      expect(result.blocks[0]?.diagnostics[0]).toMatchObject({ severity: "error", line: 2 });
    }
    await expect(open({ functions: { source: "import os\ndef f():\n    os.system('ls')\n" } })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("PY_OS_SYSTEM") });
    const runs = await usable.gate.runs.list({ limit: 50 });
    for (const { runId } of paths.flatMap(({ blocks }) => blocks)) expect(runs.map((run) => run.runId)).toContain(runId);
    await usable.close();
  });

  test("agent-and-executor 70: functions can be imported, stand in the prompt, and are refused at once when they are broken", async () => {
    const folder = userFolder("functions");
    const source = `import functools\nimport json\n\n@functools.lru_cache\ndef add(a: int, b: int = 1) -> int:\n    """Adds two numbers."""\n    return a + b\n\nasync def later(text: str) -> str:\n    return json.dumps(text)\n\ndef _own():\n    pass\n`;
    const own = await open({ workDir: folder, functions: { source, module: "helpers", packages: ["json"] } });
    expect(own.prompt).toContain('def add(a: int, b: int=1) -> int:\n    """Adds two numbers."""\n    ...');
    expect(own.prompt).toContain("async def later(text: str) -> str:\n    ...");
    expect(own.prompt).not.toContain("_own");
    expect(await own.execute([py("from helpers import add, later\n[add(1, 2), add(5), await later('x')]")])).toMatchObject({ exitCode: 0, value: { value: [3, 6, '"x"'] } });
    for (const [code, line, column, message] of [
      ["from helpers import ad\nad(1)", 1, 21, "There is no ad in helpers; did you mean add?"],
      ["import helpers\n\nhelpers.add()", 3, 1, "helpers.add needs the argument a"],
      ["from helpers import add\nadd(1, c=2)", 2, 8, "helpers.add has no argument c"],
      ["from helpers import add\nadd('1')", 2, 5, "helpers.add: the argument a must be int, not '1'"],
    ] as const) {
      const refused = await own.execute([py(`open('ran', 'w')\n${code}`)]);
      expect(refused).toMatchObject({ exitCode: 1, blocks: [{ status: "rejected", diagnostics: [{ severity: "error", line: line + 1, column, message: expect.stringContaining(message) }] }] });
    }
    expect(existsSync(join(folder, "ran"))).toBe(false);
    expect((await own.execute([sh("echo x > /functions/helpers.py")])).exitCode).not.toBe(0);
    await own.close();
    expect(readdirSync(folder)).toEqual([]);
    const broken = (functions: CodeExecutorOptions["functions"]) => expect(open({ workDir: folder, ...(functions === undefined ? {} : { functions }) })).rejects;
    await broken({ source: "def f():\n    pass\n\nraise ValueError('at load')\n" }).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("at load") });
    await broken({ source: "def f():\n    pass\n", packages: ["no_such_package"] }).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("nothing is installed at run time") });
    await broken({ source: "def f():\n    pass\n", module: "tools" }).toMatchObject({ code: "CONFIG_INVALID" });
  });

  test("packages of a project are used by an explicit mount, and nothing of it can be changed", async () => {
    const packages = userFolder("site-packages");
    mkdirSync(join(packages, "shapes"));
    writeFileSync(join(packages, "shapes/__init__.py"), "def area(a, b):\n    return a * b\n");
    const own = await open({ sandbox: { mounts: [{ host: packages, guest: "/packages", mode: "ro" }], environment: { PYTHONPATH: "/packages" } }, python: { modules: ["shapes"] } });
    expect(await own.execute([py("import shapes\nshapes.area(3, 4)")])).toMatchObject({ exitCode: 0, value: { value: 12 } });
    expect(await own.execute([sh("touch /packages/shapes/x || exit 9")])).toMatchObject({ exitCode: 9 });
    await own.close();
  });

  test("Markdown: blocks are run in order, an unclosed one is not, and a text without any says what is missing", async () => {
    const text = "First:\n\n```python\nprint(1)\n```\n\n- then\n\n  ```bash\n  echo 2\n  ```\n\n```json\n{}\n```\n";
    const result = await executor.executeMarkdown(text);
    expect(result).toMatchObject({ exitCode: 0, stdout: "1\n2\n", left: [{ word: "json", line: 13 }] });
    expect(await executor.executeMarkdown("```sh\necho ran\n```\n\n```sh\necho cut")).toMatchObject({ exitCode: 1, stdout: "ran\n", blocks: [{ exitCode: 0 }, { error: { code: "FENCE_NOT_CLOSED" } }] });
    expect(await executor.executeMarkdown("```sh\necho cut", { runUnclosed: true })).toMatchObject({ exitCode: 0, stdout: "cut\n" });
    const none = await executor.executeMarkdown("Nothing.\n\n```ruby\nputs 1\n```");
    expect(none).toMatchObject({ exitCode: 0, blocks: [], left: [{ word: "ruby", line: 3 }] });
    expect(none.text).toMatch(/No code block was found.*python \(py.*line 3 \(ruby\)/s);
  });

  test("code that holds fences is run as it is, with places of its own lines", async () => {
    const code = "cat <<'EOF'\n```python\nprint(1)\n```\nEOF\n";
    expect(await run(sh(code))).toMatchObject({ exitCode: 0, stdout: "```python\nprint(1)\n```\n" });
    expect(await run(py("'''\n```python\nx\n```\n'''\n\nraise ValueError('x')"))).toMatchObject({ exitCode: 1, blocks: [{ error: { line: 7 } }] });
  });

  test("files of out/ come back once, by the block that made them", async () => {
    const result = await run(py("open('out/a.txt', 'w').write('first')"), py("open('out/b.txt', 'w').write('second')"), sh("echo third >out/c.txt; echo changed >out/b.txt"));
    expect(result.blocks.map(({ artifacts }) => artifacts.map(({ name }) => name).sort())).toEqual([["a.txt"], ["b.txt"], ["b.txt", "c.txt"]]);
    const [file] = result.artifacts;
    const read = file === undefined ? undefined : await executor.gate.read(file.handle);
    expect(read?.kind === "artifact" && Buffer.from(read.bytes).toString()).toBe("first");
  });

  test("a working folder that cannot be used is refused with what to do", async () => {
    writeFileSync(join(root, "a-file"), "");
    await expect(open({ workDir: join(root, "a-file") })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    if (launcher.guestUser !== undefined) {
      const closed = join(root, "closed");
      mkdirSync(closed, { mode: 0o700 });
      await expect(open({ workDir: closed })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("chown 65534") });
      mkdirSync(join(closed, "inner"));
      await expect(open({ workDir: join(closed, "inner") })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("cannot reach") });
    }
    const made = await open({ workDir: join(root, "made/by/it") });
    expect((await made.execute([sh("touch x")])).exitCode).toBe(0);
    expect(statSync(join(made.workDir, "x")).isFile()).toBe(true);
    await made.close();
    expect(existsSync(join(root, "made/by/it/x"))).toBe(true);
  });
});
