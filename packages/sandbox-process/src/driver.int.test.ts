import { CallgateError } from "@callgate/contract";
import type { SandboxDriver } from "@callgate/contract";
import { processesNamed } from "@callgate/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProcessDriver } from "./driver.ts";
import { suiteLaunchers } from "./fixtures/launchers.ts";
import { runSource, startSource } from "./fixtures/run-source.ts";
import { createUnsafeLocalLauncher } from "./launcher/local/local-launcher.ts";

/** What a busy machine may take longer: there, a process that is to die waits for its turn. */
const busyMs = 4_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes of this machine whose command line holds a word. */
for (const { name, create, skip } of await suiteLaunchers()) {
  describe.skipIf(skip !== undefined)(`createProcessDriver, ${name}${skip === undefined ? "" : ` (skipped: ${skip})`}`, () => {
    let driver: SandboxDriver;
    beforeAll(() => {
      driver = createProcessDriver({ launcher: create(), warm: 1 });
    });
    afterAll(() => driver.close());

    describe("tools in Python", () => {
      test("are modules: from tools import, import tools.ns, keyword arguments, plain calls", async () => {
        const { value, calls } = await runSource(driver, "from tools import demo\nimport tools.demo\n[demo.echo(a=1, b='x'), tools.demo.echo({'from': 2}), demo.echo()]");
        expect(value).toEqual([{ a: 1, b: "x" }, { from: 2 }, {}]);
        expect(calls.map(({ seq }) => seq)).toEqual([0, 1, 2]);
      });

      test("run concurrently with await tools.aio and gather: all are issued before the first is answered", async () => {
        let open = 0;
        let most = 0;
        const { promise: allOpen, resolve } = Promise.withResolvers<void>();
        const slow = async (args: object): Promise<object> => {
          most = Math.max(most, ++open);
          if (open === 10) resolve();
          await allOpen;
          open -= 1;
          return args;
        };
        const { value } = await runSource(driver, "import asyncio\nfrom tools import aio\nr = await asyncio.gather(*[aio.demo.echo(i=i) for i in range(10)])\nasync def two():\n    return await aio.gather(aio.demo.echo(x=1), aio.demo.echo(x=2))\n[[x['i'] for x in r], await two()]", { tools: { "demo.echo": slow } });
        expect(value).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [{ x: 1 }, { x: 2 }]]);
        expect(most).toBe(10);
      });

      test("can be called from several threads", async () => {
        const { value } = await runSource(driver, "from concurrent.futures import ThreadPoolExecutor\nfrom tools import demo\nwith ThreadPoolExecutor(8) as pool:\n    r = list(pool.map(lambda i: demo.echo(i=i)['i'], range(40)))\nr");
        expect(value).toEqual(Array.from({ length: 40 }, (_, index) => index));
      });

      test("raise ToolError with code, tool, retryable and details, caught or not, at the model's own line", async () => {
        const tools = { "shop.buy": () => { throw Object.assign(new Error("Sold out"), { code: "SOLD_OUT", retryable: true, details: { left: 0 } }); } };
        const caught = await runSource(driver, "from tools import shop, ToolError\ntry:\n    shop.buy()\nexcept ToolError as e:\n    r = [e.code, e.tool, e.retryable, e.details, str(e)]\nr", { tools });
        expect(caught.value).toEqual(["SOLD_OUT", "shop.buy", true, { left: 0 }, "Sold out"]);
        const { end } = await runSource(driver, "from tools import shop\n\nshop.buy()", { tools });
        expect(end).toMatchObject({ kind: "threw", error: { name: "ToolError", code: "SOLD_OUT", tool: "shop.buy", retryable: true, message: "Sold out", line: 3 } });
      });

      test("name the nearest when there is no such tool or namespace", async () => {
        expect((await runSource(driver, "from tools import demo\ndemo.ecko()")).end).toMatchObject({ error: { code: "TOOL_NOT_FOUND", message: expect.stringContaining('"echo"') } });
        expect((await runSource(driver, "from tools import demmo")).end).toMatchObject({ error: { name: "ImportError", message: expect.stringContaining('"demo"'), line: 1 } });
        expect((await runSource(driver, "import tools\n[hasattr(tools.demo, 'nope'), hasattr(tools.demo, '__wrapped__')]")).value).toEqual([false, false]);
      });

      test("search, describe and results.read are there", async () => {
        const tools = { "builtin.search": (args: object) => args, "builtin.describe": (args: object) => args, "builtin.read_result": (args: object) => args };
        const { value } = await runSource(driver, "import tools\n[tools.search('x', limit=2), tools.describe('a.b', 'c.d'), tools.describe(['a.b']), results.read('result://a/1', path='/x')]", { tools });
        expect(value).toEqual([{ query: "x", limit: 2 }, { names: ["a.b", "c.d"] }, { names: ["a.b"] }, { handle: "result://a/1", path: "/x" }]);
      });

      test("refuse arguments that cannot cross, by path, and such as are too large, before anything is sent", async () => {
        const path = await runSource(driver, "from tools import demo\ntry:\n    demo.echo(x=[1, object()])\nexcept Exception as e:\n    r = [e.code, e.tool, e.details['path']]\nr");
        expect(path.value).toEqual(["VALUE_UNSUPPORTED", "demo.echo", "/x/1"]);
        const large = await runSource(driver, "from tools import demo\ntry:\n    demo.echo(x='€' * 400)\nexcept Exception as e:\n    r = [e.code, e.details]\nr", { limits: { argumentBytes: 1000 } });
        expect(large.value).toEqual(["LIMIT_EXCEEDED", { limit: "argumentBytes", limitValue: 1000 }]);
        expect([...path.calls, ...large.calls]).toEqual([]);
        const result = await runSource(driver, "from tools import demo\ntry:\n    demo.echo(x='y' * 2000)\nexcept Exception as e:\n    r = [e.code, e.details['limit']]\nr", { limits: { callResultBytes: 1000 } });
        expect(result.value).toEqual(["LIMIT_EXCEEDED", "callResultBytes"]);
      });
    });

    describe("values of Python", () => {
      const table: readonly (readonly [string, unknown])[] = [
        ["None", null], ["True", true], ["1", 1], ["1.5", 1.5], ["-0.0", -0], ["float('nan')", Number.NaN], ["float('-inf')", Number.NEGATIVE_INFINITY], ["2**70", 2n ** 70n], ["-(2**53)", -(2n ** 53n)],
        ["'€ 😀 \\0 \\ud800'", "€ 😀 \0 \ud800"], ["(1, 'a')", [1, "a"]], ["{1, 2}", new Set([1, 2])], ["b'\\x00\\xff'", new Uint8Array([0, 255])], ["{'a': {'b': [None]}}", { a: { b: [null] } }],
        ["{1: 'a', (2, 3): 'b'}", new Map<unknown, unknown>([[1, "a"], [[2, 3], "b"]])], ["{'$cg': 'date', 'v': 1}", { $cg: "date", v: 1 }], ["__import__('datetime').datetime(2024, 1, 2, 3, 4, 5, 6000)", new Date(Date.UTC(2024, 0, 2, 3, 4, 5, 6))],
        ["__import__('datetime').date(2024, 1, 2)", "2024-01-02"], ["__import__('enum').IntEnum('E', 'A').A", 1],
      ];
      test("code-mode 13: come out as they are, and go to a tool and back", async () => {
        const sources = table.map(([source]) => source).join(", ");
        const seen: unknown[] = [];
        const tools = { "demo.echo": (args: Record<string, unknown>) => { seen.push(args["x"]); return args["x"]; } };
        const { value } = await runSource(driver, `from tools import demo\nvalues = [${sources}]\n[values, [demo.echo(x=v) for v in values]]`, { tools });
        const expected = table.map(([, expectedValue]) => expectedValue);
        expect(seen).toEqual(expected);
        expect((value as unknown[])[0]).toEqual(expected);
        expect((value as unknown[])[1]).toEqual(expected);
      });

      test("a last value that cannot cross is shown as its repr, a cycle in data is an error", async () => {
        expect((await runSource(driver, "class A:\n    def __repr__(self): return 'A!'\nA()")).value).toBe("A!");
        expect((await runSource(driver, "a = {}\na['a'] = a\na")).end).toMatchObject({ kind: "threw", error: { code: "VALUE_UNSUPPORTED" } });
        expect((await runSource(driver, "1;")).value).toBeNull();
      });

      test("a value over resultBytes ends the run at that limit", async () => {
        expect((await runSource(driver, "'€' * 400", { limits: { resultBytes: 1000 } })).end).toMatchObject({ kind: "limit", limit: "resultBytes", limitValue: 1000 });
      });
    });

    describe("errors of Python", () => {
      test("carry the model's own frames only", async () => {
        const { end } = await runSource(driver, "def f(n):\n    return 1 // n\n\ndef g():\n    return f(0)\n\ng()");
        expect(end).toMatchObject({ kind: "threw", error: { name: "ZeroDivisionError", line: 2 } });
        expect(JSON.stringify(end)).toContain("line 7");
        expect(JSON.stringify(end)).not.toMatch(/callgate|guest|\/usr|\/run/);
      });

      test("a syntax error has its place, and `return` its advice", async () => {
        expect((await runSource(driver, "x = 1\ny = (")).end).toMatchObject({ kind: "threw", error: { name: "SyntaxError", line: 2 } });
        expect((await runSource(driver, "return 1")).end).toMatchObject({ error: { message: expect.stringContaining("last expression") } });
      });

      test("an exit code is no error of the program, and 0 is none at all", async () => {
        expect((await runSource(driver, "import sys\nsys.exit(3)")).end).toMatchObject({ kind: "threw", error: { code: "EXIT_CODE", message: expect.stringContaining("3") } });
        expect((await runSource(driver, "import sys\nsys.exit(0)")).end.kind).toBe("returned");
        expect((await runSource(driver, "import os\nos._exit(7)")).end).toMatchObject({ kind: "threw", error: { code: "EXIT_CODE" } });
      });

      test("case 62, br-025: a signal ends the run as crashed and names it; what was printed is kept", async () => {
        const { end, out } = await runSource(driver, "import os\nprint('before')\nos.abort()");
        expect(end).toMatchObject({ kind: "crashed", signal: "SIGABRT" });
        expect(out).toBe("before");
      });
    });

    describe("output", () => {
      test("case 56: stdout, stderr and the output of child processes come in the order they were written", async () => {
        const { outputs } = await runSource(driver, "import os, sys, subprocess\nprint('A')\nprint('B', file=sys.stderr)\nsubprocess.run(['echo', 'C'])\nprint('D')\nos.write(2, b'E\\n')\nprint('F')");
        expect(outputs.map((output) => output.kind === "console" && `${output.entry.level} ${output.entry.text}`)).toEqual(["log A", "error B", "log C", "log D", "error E", "log F"]);
      });

      test("case 57: 50 MB are captured as head and tail, to the byte, in bounded memory", async () => {
        const before = process.memoryUsage.rss();
        const { outputs, end } = await runSource(driver, "for i in range(50):\n    print(chr(97 + i % 26) * (1 << 20), end='')\nprint('END')", { limits: { consoleBytes: 10_000 } });
        expect(end.kind).toBe("returned");
        const texts = outputs.flatMap((output) => (output.kind === "console" ? [output.entry.text] : []));
        const dropped = outputs.at(-1);
        expect(texts[0]?.startsWith("aaa")).toBe(true);
        expect(texts.join("").endsWith("xEND")).toBe(true);
        expect(dropped).toEqual({ kind: "console-dropped", droppedBytes: 50 * (1 << 20) + 4 - texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) - 1 });
        expect((process.memoryUsage.rss() - before) / 1024 / 1024).toBeLessThan(150);
      });

      test("case 59: there is no input: it ends at once", async () => {
        expect((await runSource(driver, "import sys\nsys.stdin.read()")).value).toBe("");
        expect((await runSource(driver, "input()")).end).toMatchObject({ kind: "threw", error: { name: "EOFError" } });
        expect((await runSource(driver, "read x; echo \"got '$x'\"", { language: "shell" })).out).toBe("got ''");
      });

      test("text() and progress() are told", async () => {
        const { outputs } = await runSource(driver, "text('a', 1)\nprogress('half', 0.5)");
        expect(outputs).toEqual([{ kind: "text", text: "a 1" }, { kind: "progress", message: "half", fraction: 0.5 }]);
      });

      test("files of out/ come back, links and pipes do not", async () => {
        const { outputs } = await runSource(driver, "import os\nopen('out/a.txt', 'w').write('hello')\nos.symlink('/etc/passwd', 'out/link')\nos.mkfifo('out/pipe')\nos.makedirs('out/deep')\nopen('out/deep/b.json', 'w').write('{}')");
        expect(outputs.map((output) => output.kind === "artifact" && [output.artifact.name, output.artifact.mimeType, Buffer.from(output.artifact.bytes).toString()])).toEqual([["a.txt", "text/plain", "hello"], ["deep/b.json", "application/json", "{}"]]);
      });
    });

    describe("life", () => {
      test("cpuMs ends a busy program, and waiting does not count", async () => {
        expect((await runSource(driver, "while True: pass", { limits: { cpuMs: 300 } })).end).toMatchObject({ kind: "limit", limit: "cpuMs", limitValue: 300 });
        expect((await runSource(driver, "import time\ntime.sleep(0.6)\n1", { limits: { cpuMs: 400 } })).value).toBe(1);
      });

      test("memoryMiB ends a greedy program", async () => {
        expect((await runSource(driver, "kept = []\nwhile True: kept.append(bytearray(1 << 20))", { limits: { memoryMiB: 64 } })).end).toMatchObject({ kind: "limit", limit: "memoryMiB", limitValue: 64 });
      });

      test.each([
        ["case 52: a program that ignores SIGTERM", "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('partial')\ntime.sleep(60)", "python"],
        ["case 51: a program that sleeps", "print('partial', flush=True)\nimport time\ntime.sleep(60)", "python"],
        ["a child that holds the output open", "import subprocess\nprint('partial')\nsubprocess.run(['sleep', '61'])", "python"],
        ["a double fork in a session of its own", "import os, time\nprint('partial', flush=True)\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(61)\n    os._exit(0)\ntime.sleep(60)", "python"],
        ["py-034: a program that stops itself", "import os, signal\nprint('partial', flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)", "python"],
        ["a shell in a shell", "echo partial; (setsid sleep 61 &) ; sh -c 'trap \"\" TERM; sleep 61'", "shell"],
      ])("%s is dead within 500 ms of a cancel, and what it printed is kept", async (_what, code, language) => {
        const { run, done, said } = startSource(driver, code, { language: language as "python" });
        await said;
        await pause(200);
        const startMs = performance.now();
        run.cancel();
        const { end, out } = await done;
        expect(performance.now() - startMs).toBeLessThan(500 + busyMs);
        expect(end.kind).toBe("cancelled");
        expect(out).toContain("partial");
        expect(processesNamed("sleep\u000061\u0000")).toEqual([]);
      });

      test("py-033: a grandchild that holds the output does not keep a run that returned", async () => {
        const { end, out } = await runSource(driver, "import subprocess\nsubprocess.Popen(['sleep', '62'])\nprint('SAFE')");
        expect([end.kind, out]).toEqual(["returned", "SAFE"]);
        const shell = await runSource(driver, "sleep 62 & echo SAFE", { language: "shell" });
        expect([shell.end.kind, shell.out]).toEqual(["returned", "SAFE"]);
        expect(processesNamed("sleep\u000062\u0000")).toEqual([]);
      });

      test("case 54: a run that is cancelled at once starts nothing that stays", async () => {
        const { run, done } = startSource(driver, "open('/tmp/never', 'w')");
        run.cancel();
        expect((await done).end.kind).toBe("cancelled");
      });

      test("nothing of a run is there in the next one", async () => {
        await runSource(driver, "import builtins, os\nbuiltins.leak = 1\nopen('left.txt', 'w').write('x')\nos.environ['LEAK'] = '1'");
        expect((await runSource(driver, "import builtins, os\n[hasattr(builtins, 'leak'), os.path.exists('left.txt'), 'LEAK' in os.environ]")).value).toEqual([false, false, false]);
      });

      test("case 60: many at once, the same text too", async () => {
        const runs = await Promise.all(Array.from({ length: 24 }, (_, index) => runSource(driver, index % 2 === 0 ? "from tools import demo\ndemo.echo(i=1)['i']" : "1")));
        expect(runs.every(({ value }) => value === 1)).toBe(true);
      });
    });

    describe("shell", () => {
      test("case 47, 62: output, exit code and streams", async () => {
        const { end, out, err } = await runSource(driver, "echo out; echo err >/dev/stderr; exit 3", { language: "shell" });
        expect([out, err]).toEqual(["out", "err"]);
        expect(end).toMatchObject({ kind: "threw", error: { code: "EXIT_CODE" } });
        expect((await runSource(driver, "echo 'hello world!'", { language: "shell" })).end.kind).toBe("returned");
      });

      test("sh-006: start-up files and variables of a step before have no effect", async () => {
        await runSource(driver, "echo 'echo POISONED' > .bashrc; cp .bashrc .profile; export BASH_ENV=$PWD/.bashrc ENV=$PWD/.bashrc", { language: "shell" });
        expect((await runSource(driver, "echo 'echo POISONED' > $HOME/.bashrc; echo ${BASH_ENV-none} ${ENV-none} ${PROMPT_COMMAND-none}", { language: "shell" })).out).toBe("none none none");
      });
    });

    test("case 58: the host's environment is not the program's", async () => {
      process.env["OPENAI_API_KEY"] = "canary-7f3a";
      try {
        expect(JSON.stringify((await runSource(driver, "import os\ndict(os.environ)")).value)).not.toContain("canary");
        expect((await runSource(driver, "env", { language: "shell" })).out).not.toContain("canary");
      } finally {
        delete process.env["OPENAI_API_KEY"];
      }
    });
  });
}

describe("createProcessDriver", () => {
  test("case 63: a missing interpreter is a run that crashed and says which", async () => {
    const driver = createProcessDriver({ launcher: createUnsafeLocalLauncher(), languages: [{ language: "python", kind: "framed", command: ["no-such-python"], environment: {} }] });
    const { end } = await runSource(driver, "1");
    expect(end).toMatchObject({ kind: "crashed", message: expect.stringContaining("no-such-python") });
    await driver.close();
  });

  test("close ends what runs, may be repeated, and nothing starts after it", async () => {
    const driver = createProcessDriver({ launcher: createUnsafeLocalLauncher() });
    const { done } = startSource(driver, "import subprocess\nsubprocess.run(['sleep', '6306'])");
    await pause(300);
    await Promise.all([driver.close(), driver.close()]);
    expect((await done).end.kind).toBe("cancelled");
    expect(processesNamed("sleep\u00006306\u0000")).toEqual([]);
    expect(() => startSource(driver, "1")).toThrow(CallgateError);
  });

  test("refuses wrong options", () => {
    expect(() => createProcessDriver({ launcher: createUnsafeLocalLauncher(), maxGuests: 0 })).toThrow(/maxGuests/);
  });
});
