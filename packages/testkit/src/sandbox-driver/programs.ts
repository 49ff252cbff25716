/**
 * What the suite's programs are written in. A dialect is a language in one kind of guest: `node` is JavaScript with
 * Node's modules, `cpython` is Python with processes and threads. What is not in a dialect is looked up in the language
 * it belongs to. `perl` stands for the languages that a configuration registers by command.
 */
export type Dialect = "javascript" | "node" | "python" | "cpython" | "shell" | "perl";

export const languageOfDialect: Readonly<Record<Dialect, "javascript" | "python" | "shell" | "perl">> = { javascript: "javascript", node: "javascript", python: "python", cpython: "python", shell: "shell", perl: "perl" };

type Row = Readonly<Partial<Record<Dialect, string>>>;

/** What nothing else on this machine sleeps for: suites of other drivers run beside this one. */
export const leftSeconds = `64.${process.pid}`;

/**
 * The programs of the common cases, one row a program, one text a language. A language without a text has no such thing
 * (a shell calls no tools), and the cases that need it do not apply to it.
 *
 * JavaScript is the body of the program's function; Python and shell are the whole text.
 */
export const programs = {
  /** Prints `alive`. */
  alive: { javascript: 'console.log("alive")', python: 'print("alive")', shell: "echo alive", perl: "print \"alive\\n\"" },
  /** Its value is 1. */
  one: { javascript: "return 1", python: "1" },
  nothing: { javascript: "", python: "", shell: "", perl: "" },
  data: { javascript: `return { none: null, yes: true, whole: 7, part: 0.5, text: "€ 😀 \\u0000", list: [1, [2, []]], deep: { a: { b: {} } } }`, python: `{"none": None, "yes": True, "whole": 7, "part": 0.5, "text": "€ 😀 \\0", "list": [1, [2, []]], "deep": {"a": {"b": {}}}}` },
  special: { javascript: "return [NaN, Infinity, -0, 2n ** 70n, new Date(1234), new Set([1]), new Uint8Array([0, 255])]", python: "import datetime\n[float('nan'), float('inf'), -0.0, 2**70, datetime.datetime.fromtimestamp(1.234, datetime.timezone.utc), {1}, bytes([0, 255])]" },
  largeValue: { javascript: 'return "€".repeat(400)', python: "'€' * 400" },
  cyclicValue: { javascript: "const a = {}; a.a = a; return a", python: "a = {}\na['a'] = a\na" },

  callOnce: { javascript: "return (await tools.demo.echo({ i: 7, text: 'x' })).i", python: "from tools import demo\ndemo.echo(i=7, text='x')['i']" },
  /** Waits for the answer to its first call, and says so before. */
  callAndWait: { javascript: 'console.log("waiting"); await tools.demo.echo({ n: 0 }); return "done"', python: 'from tools import demo\nprint("waiting")\ndemo.echo(n=0)\n"done"' },
  callThrice: { javascript: "for (const n of [0, 1, 2]) await tools.demo.echo({ n }); return 3", python: "from tools import demo\nfor n in range(3):\n    demo.echo(n=n)\n3" },
  callTwentyAtOnce: { javascript: "return (await Promise.all(Array.from({ length: 20 }, (_, i) => tools.demo.echo({ i })))).map(({ i }) => i)", python: "from tools import aio\n[r['i'] for r in await aio.gather(*[aio.demo.echo(i=i) for i in range(20)])]" },
  callByImport: { node: "return (await tools.demo.echo({ i: 7 })).i", python: "import tools.demo\ntools.demo.echo(i=7)['i']" },
  callPages: { javascript: "const seen = []; for await (const page of tools.demo.list.pages({ size: 2 })) seen.push(...page); try { for await (const page of tools.demo.echo.pages({})) seen.push(page) } catch (e) { seen.push(e.code) } return seen", python: "from tools import aio, demo\nseen = [item for page in demo.list.pages(size=2) for item in page]\nagain = [item async for page in aio.demo.list.pages(size=2) for item in page]\nassert again == seen\ntry:\n    list(demo.echo.pages())\nexcept Exception as e:\n    seen.append(e.code)\nseen" },
  callData: { javascript: "return await tools.demo.echo({ none: null, yes: true, whole: 7, part: 0.5, text: '€ 😀', list: [1, [2, []]], deep: { a: {} } })", python: "from tools import demo\ndemo.echo(none=None, yes=True, whole=7, part=0.5, text='€ 😀', list=[1, [2, []]], deep={'a': {}})" },
  callUnknownTool: { javascript: "await tools.demo.ecko({})", python: "from tools import demo\ndemo.ecko()" },
  callUnsupported: { javascript: "try { await tools.demo.echo({ x: [1, () => 1] }); return 'sent' } catch (e) { return [e.code, e.tool, e.details.path] }", python: "from tools import demo\ntry:\n    demo.echo(x=[1, object()])\n    r = 'sent'\nexcept Exception as e:\n    r = [e.code, e.tool, e.details['path']]\nr" },
  callTooLarge: { javascript: "try { await tools.demo.echo({ x: '€'.repeat(400) }); return 'sent' } catch (e) { return [e.code, e.tool, e.details] }", python: "from tools import demo\ntry:\n    demo.echo(x='€' * 400)\n    r = 'sent'\nexcept Exception as e:\n    r = [e.code, e.tool, e.details]\nr" },
  answerTooLarge: { javascript: "try { return await tools.demo.big({}) } catch (e) { return [e.code, e.details.limit] }", python: "from tools import demo\ntry:\n    r = demo.big()\nexcept Exception as e:\n    r = [e.code, e.details['limit']]\nr" },
  errorCaught: { javascript: "try { await tools.shop.buy({}) } catch (e) { return [e instanceof ToolError, e.code, e.tool, e.retryable, e.details, e.message] }", python: "from tools import shop, ToolError\ntry:\n    shop.buy()\nexcept ToolError as e:\n    r = [True, e.code, e.tool, e.retryable, e.details, str(e)]\nr" },
  /** The call stands in the second line. */
  errorUncaught: { javascript: "const x = 1;\nawait tools.shop.buy({})", python: "from tools import shop\nshop.buy()" },
  largeAnswer: { javascript: "const rows = await tools.demo.rows({}); const sums = {}; for (const { region, amount } of rows) sums[region] = (sums[region] ?? 0) + amount; return [rows.length, Object.keys(sums).length]", python: "from tools import demo\nrows = demo.rows()\nsums = {}\nfor row in rows:\n    sums[row['region']] = sums.get(row['region'], 0) + row['amount']\n[len(rows), len(sums)]" },
  builtins: { javascript: "return [await tools.search('x', { limit: 2 }), await tools.describe('a.b'), await results.read('result://a/1', { path: '/x' })]", python: "import tools\n[tools.search('x', limit=2), tools.describe('a.b'), results.read('result://a/1', path='/x')]" },

  /** Throws in its second line. */
  throws: { javascript: "const a = 1;\nnull.field;", python: "a = 1\nNone.field" },
  syntaxError: { javascript: "return [1, 2", python: "x = [1, 2" },
  exitThree: { node: "process.exit(3)", python: "import sys\nsys.exit(3)", shell: "exit 3", perl: "exit 3" },
  exitZero: { node: "process.exit(0)", python: "import sys\nsys.exit(0)", shell: "exit 0", perl: "exit 0" },
  abort: { node: "console.log('before'); process.abort()", cpython: "import os\nprint('before')\nos.abort()", shell: "echo before; kill -SEGV $$", perl: "$| = 1; print \"before\\n\"; kill \"SEGV\", $$; sleep 60" },
  /** Waits for what cannot come any more. */
  stalls: { javascript: "await new Promise(() => {})", python: "import asyncio\nawait asyncio.get_running_loop().create_future()" },

  spin: { javascript: "while (true) {}", python: "while True: pass", shell: "while :; do :; done", perl: "while (1) {}" },
  spinCatching: { javascript: "for (;;) { try { for (;;); } catch {} }", python: "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass", shell: "trap '' TERM INT; while :; do :; done", perl: "$SIG{TERM} = $SIG{INT} = \"IGNORE\"; while (1) { eval { while (1) {} } }" },
  printThenSpin: { javascript: 'console.log("before"); while (true) {}', python: 'print("before")\nwhile True: pass', shell: "echo before; while :; do :; done", perl: "$| = 1; print \"before\\n\"; while (1) {}" },
  fillMemory: { javascript: "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))", python: "kept = []\nwhile True: kept.append(bytearray(1 << 20))" },
  fillHeap: { javascript: "const a = []; for (;;) a.push({ text: 'x'.repeat(100) + a.length })", python: "kept = []\nwhile True: kept.append({'text': 'x' * 100 + str(len(kept))})", shell: 'x=$(head -c 1000000 /dev/zero | tr "\\0" x); while :; do x="$x$x"; done', perl: "my @kept; while (1) { push @kept, \"x\" x 1048576 }" },
  recurse: { javascript: "const f = (n) => f(n + 1) + 1; return f(0)", python: "def f(n): return f(n + 1) + 1\nf(0)", shell: "f() { f; }; f" },
  /** Waits for six tenths of a second without computing. */
  waitShortly: { javascript: "for (let i = 0; i < 6; i++) await new Promise((resolve) => setTimeout(resolve, 100)); return 1", python: "import time\ntime.sleep(0.6)\n1", shell: "sleep 0.6", perl: "select(undef, undef, undef, 0.6)" },
  waitLong: { javascript: 'console.log("partial"); await new Promise((resolve) => setTimeout(resolve, 60_000))', python: 'import time\nprint("partial")\ntime.sleep(60)', shell: "echo partial; sleep 60", perl: "$| = 1; print \"partial\\n\"; sleep 60" },
  ignoreTerm: { node: "process.on('SIGTERM', () => {}); console.log('partial'); await new Promise((resolve) => setTimeout(resolve, 60_000))", cpython: "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('partial')\ntime.sleep(60)", shell: "trap '' TERM; echo partial; sleep 60", perl: "$SIG{TERM} = \"IGNORE\"; $| = 1; print \"partial\\n\"; sleep 60" },
  /** Leaves a process in a session of its own behind that sleeps for `leftSeconds`, and returns. */
  leaveChild: { node: `const { spawn } = await import('node:child_process'); spawn('sleep', ['${leftSeconds}'], { detached: true, stdio: 'inherit' }).unref(); console.log('left')`, cpython: `import subprocess\nsubprocess.Popen(['sleep', '${leftSeconds}'], start_new_session=True)\nprint('left')`, shell: `setsid sleep ${leftSeconds} &\necho left`, perl: `if (fork() == 0) { setpgrp; exec "sleep", "${leftSeconds}" } print "left\\n"` },

  /** Prints A to the first stream, B to the second, and so on. */
  printBoth: { javascript: 'console.log("A"); console.error("B"); console.log("C"); console.error("D")', python: "import sys\nprint('A')\nprint('B', file=sys.stderr)\nprint('C')\nprint('D', file=sys.stderr)" },
  /** 1,000 lines of 99 characters. */
  printMany: { javascript: 'for (let i = 0; i < 1000; i++) console.log("x".repeat(99))', python: 'for i in range(1000): print("x" * 99)', shell: 'for i in 1 2 3 4 5 6 7 8 9 10; do head -c 9900 /dev/zero | tr "\\0" x | fold -w 99; echo; done', perl: "print \"x\" x 99, \"\\n\" for 1 .. 1000" },
  /** 20 MiB, and END. */
  printLarge: { node: "for (let i = 0; i < 20; i++) process.stdout.write('y'.repeat(1 << 20)); console.log('END')", python: "for i in range(20): print('y' * (1 << 20), end='')\nprint('END')", shell: 'head -c 20971520 /dev/zero | tr "\\0" y; echo END', perl: "print \"y\" x 1048576 for 1 .. 20; print \"END\\n\"" },
  printBytes: { node: "process.stdout.write(Buffer.from([0x61, 0xff, 0xf0, 0x9f])); await new Promise((r) => setTimeout(r, 50)); process.stdout.write(Buffer.from([0x98, 0x80, 0x62, 10]))", cpython: "import os, time\nos.write(1, b'a\\xff\\xf0\\x9f')\ntime.sleep(0.05)\nos.write(1, b'\\x98\\x80b\\n')", shell: "printf 'a\\377\\360\\237'; sleep 0.05; printf '\\230\\200b\\n'", perl: "$| = 1; print \"a\\xff\\xf0\\x9f\"; select(undef, undef, undef, 0.05); print \"\\x98\\x80b\\n\"" },
  readInput: { node: "const { readFileSync } = await import('node:fs'); console.log('got', readFileSync(0, 'utf8').length)", python: "import sys\nprint('got', len(sys.stdin.read()))", shell: 'read x; echo "got ${#x}"', perl: "my $x = join \"\", <STDIN>; print \"got \", length $x, \"\\n\"" },
  say: { javascript: 'text("a"); progress("half", 0.5)', python: "text('a')\nprogress('half', 0.5)" },
  printEnvironment: { node: "console.log(JSON.stringify(process.env))", python: "import os\nprint(dict(os.environ))", shell: "env", perl: "print \"$_=$ENV{$_}\\n\" for keys %ENV" },

  writeFiles: { node: "const fs = await import('node:fs'); fs.writeFileSync('out/a.txt', 'hello'); fs.mkdirSync('out/deep', { recursive: true }); fs.writeFileSync('out/deep/b.json', '{}')", python: "import os\nopen('out/a.txt', 'w').write('hello')\nos.makedirs('out/deep')\nopen('out/deep/b.json', 'w').write('{}')", shell: "printf hello >out/a.txt; mkdir -p out/deep; printf '{}' >out/deep/b.json", perl: "sub put { open my $f, \">\", $_[0] or die; print $f $_[1] } put(\"out/a.txt\", \"hello\"); mkdir \"out/deep\"; put(\"out/deep/b.json\", \"{}\")" },
  /** Beside one good file: a link out of the workspace, a link inside it, a pipe. */
  writeOdd: { node: "const fs = await import('node:fs'); fs.writeFileSync('out/good.txt', 'good'); fs.symlinkSync('/etc/passwd', 'out/link'); fs.symlinkSync('/etc', 'out/folder'); (await import('node:child_process')).spawnSync('mkfifo', ['out/pipe'])", cpython: "import os\nopen('out/good.txt', 'w').write('good')\nos.symlink('/etc/passwd', 'out/link')\nos.symlink('/etc', 'out/folder')\nos.mkfifo('out/pipe')", shell: "printf good >out/good.txt; ln -s /etc/passwd out/link; ln -s /etc out/folder; mkfifo out/pipe", perl: "sub put { open my $f, \">\", $_[0] or die; print $f $_[1] } put(\"out/good.txt\", \"good\"); symlink \"/etc/passwd\", \"out/link\"; symlink \"/etc\", \"out/folder\"; system \"mkfifo\", \"out/pipe\"" },
  writeLarge: { node: "const fs = await import('node:fs'); fs.writeFileSync('out/large.bin', Buffer.alloc(40 << 20)); console.log('wrote')", cpython: "open('out/large.bin', 'wb').write(bytes(40 << 20))\nprint('wrote')", shell: "head -c 41943040 /dev/zero >out/large.bin; echo wrote", perl: "open my $f, \">\", \"out/large.bin\" or die; print $f \"\\0\" x 1048576 for 1 .. 40; close $f; print \"wrote\\n\"" },
  /** Leaves marks wherever it can. */
  leaveMarks: { javascript: "globalThis.leak = 1; Object.prototype.leak = 1; Array.prototype.map = () => ['tainted']; JSON.stringify = () => '\"forged\"'; return 1", node: "globalThis.leak = 1; Object.prototype.leak = 1; process.env.LEAK = '1'; const fs = await import('node:fs'); fs.writeFileSync('left.txt', 'x'); fs.writeFileSync(`${process.env.TMPDIR}/left.txt`, 'x'); return 1", python: "import builtins, os\nbuiltins.leak = 1\nopen('left.txt', 'w').write('x')\nopen(os.path.join(os.environ['TMPDIR'], 'left.txt'), 'w').write('x')\nos.environ['LEAK'] = '1'", shell: "echo x >left.txt; echo x >\"$TMPDIR/left.txt\"; export LEAK=1; echo 'export LEAK=1' >.bashrc; cp .bashrc .profile", perl: "sub put { open my $f, \">\", $_[0] or die; print $f $_[1] } put(\"left.txt\", \"x\"); put(\"$ENV{TMPDIR}/left.txt\", \"x\"); $ENV{LEAK} = \"1\"" },
  /** Prints `clean` where none of them is seen. */
  seeMarks: { javascript: "console.log(typeof leak === 'undefined' && ({}).leak === undefined && [1].map((x) => x + 1)[0] === 2 && JSON.stringify(1) === '1' ? 'clean' : 'marked')", node: "const fs = await import('node:fs'); console.log(typeof leak === 'undefined' && process.env.LEAK === undefined && !fs.existsSync('left.txt') && !fs.existsSync(`${process.env.TMPDIR}/left.txt`) ? 'clean' : 'marked')", python: "import builtins, os\nprint('marked' if hasattr(builtins, 'leak') or os.path.exists('left.txt') or os.path.exists(os.path.join(os.environ['TMPDIR'], 'left.txt')) or 'LEAK' in os.environ else 'clean')", shell: 'if [ -e left.txt ] || [ -e "$TMPDIR/left.txt" ] || [ -n "$LEAK" ]; then echo marked; else echo clean; fi', perl: "print -e \"left.txt\" || -e \"$ENV{TMPDIR}/left.txt\" || defined $ENV{LEAK} ? \"marked\\n\" : \"clean\\n\"" },

  // Blocks of a session. JavaScript here is the whole text too.
  /** Defines x = 41, a function that prints it, and a file; goes into a folder. */
  define: { node: "const x = 41; const show = () => console.log('x is', x); require('node:fs').mkdirSync('deep'); process.chdir('deep'); require('node:fs').writeFileSync('kept.txt', 'kept')", cpython: "import os\nx = 41\ndef show(): print('x is', x)\nos.makedirs('deep')\nos.chdir('deep')\nopen('kept.txt', 'w').write('kept')", shell: "x=41; show() { echo x is $x; }; mkdir deep; cd deep; echo kept >kept.txt" },
  /** Prints `x is 41`, and `kept`, where all of that is there. */
  recall: { node: "show(); console.log(require('node:fs').readFileSync('kept.txt', 'utf8').trim())", cpython: "show()\nprint(open('kept.txt').read().strip())", shell: "show; cat kept.txt" },
  /** Its value is 42: what was defined, declared again, and awaited where the language knows that. */
  redefine: { node: "const x = await Promise.resolve(41); x + 1", cpython: "import asyncio\nx = await asyncio.sleep(0, 41)\nx + 1" },
  callInBlock: { node: "(await tools.demo.echo({ i: 7 })).i", cpython: "from tools import demo\ndemo.echo(i=7)['i']" },
  /** Runs for 60 seconds unless it is interrupted. Says so first. */
  dawdle: { node: "console.log('partial'); await new Promise((resolve) => setTimeout(resolve, 60_000))", cpython: "import time\nprint('partial')\ntime.sleep(60)", shell: "echo partial; sleep 60; echo after" },
  /** Computes for ever, and stops when it is interrupted. */
  compute: { node: "console.log('partial'); for (;;);", cpython: "print('partial')\nwhile True: pass", shell: "echo partial; while :; do :; done" },
  /** Does not let itself be interrupted. */
  insist: { node: "await new Promise((resolve) => setTimeout(resolve, 10)); console.log('partial'); for (;;);", cpython: "import time\nsaid = False\nwhile True:\n    try:\n        if not said: print('partial')\n        said = True\n        time.sleep(60)\n    except BaseException:\n        pass", shell: "trap '' INT; echo partial; while :; do :; done" },
  leave: { node: "process.exit(3)", cpython: "import os\nos._exit(3)", shell: "exit 3" },
  writeFirst: { node: "require('node:fs').writeFileSync('out/a.txt', 'a')", cpython: "open('out/a.txt', 'w').write('a')\nNone", shell: "printf a >out/a.txt" },
} satisfies Record<string, Row>;

export type ProgramName = keyof typeof programs;

/** A program in a dialect; undefined where it has no such thing. */
export function programIn(dialect: Dialect, name: ProgramName): string | undefined {
  const row: Row = programs[name];
  return row[dialect] ?? row[languageOfDialect[dialect]];
}
