import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extractCodeBlocks } from "./extract-code-blocks.ts";

const fence = "```";
const blocksOf = (text: string, options = {}) => extractCodeBlocks(text, options).blocks;
const codeOf = (text: string, options = {}): [string, string][] => blocksOf(text, options).map(({ language, code }) => [language, code]);

describe("extractCodeBlocks: the extraction table", () => {
  test("agent-and-executor 34: a fence of backticks is one block", () => {
    expect(codeOf(`${fence}python\nprint(1)\n${fence}`)).toEqual([["python", "print(1)\n"]]);
  });

  test("agent-and-executor 35: the case of the language does not matter", () => {
    expect(codeOf(`${fence}Python\nprint(1)\n${fence}\n${fence}BASH\nls\n${fence}`)).toEqual([["python", "print(1)\n"], ["shell", "ls\n"]]);
  });

  test("agent-and-executor 36: aliases name the language", () => {
    const words = ["py", "python3", "js", "javascript", "ts", "typescript", "bash", "shell", "sh"];
    expect(blocksOf(words.map((word) => `${fence}${word}\nx\n${fence}`).join("\n")).map(({ language }) => language)).toEqual(["python", "python", "javascript", "javascript", "typescript", "typescript", "shell", "shell", "shell"]);
  });

  test("agent-and-executor 37: blanks behind the language are nothing", () => {
    expect(codeOf(`${fence}python  \t\nprint(1)\n${fence}  `)).toEqual([["python", "print(1)\n"]]);
  });

  test("agent-and-executor 38: lines may end with CRLF or CR", () => {
    expect(codeOf(`${fence}python\r\nprint(1)\r\nprint(2)\r\n${fence}\r\n`)).toEqual([["python", "print(1)\nprint(2)\n"]]);
    expect(codeOf(`${fence}python\rprint(1)\r${fence}\r`)).toEqual([["python", "print(1)\n"]]);
  });

  test("agent-and-executor 39: an info string may say more than the language", () => {
    expect(codeOf(`${fence}python title=x {1,2}\nprint(1)\n${fence}\n${fence}{.python .numberLines}\nprint(2)\n${fence}`)).toEqual([["python", "print(1)\n"], ["python", "print(2)\n"]]);
  });

  test("agent-and-executor 40: a fence of tildes is one too, and backticks do not close it", () => {
    expect(codeOf(`~~~python\nprint("${fence}")\n${fence}\n~~~`)).toEqual([["python", `print("${fence}")\n${fence}\n`]]);
  });

  test("agent-and-executor 41: a block without a language is left out, also when its first line is one, unless it is configured", () => {
    const text = `${fence}\npython\nprint(1)\n${fence}`;
    expect(extractCodeBlocks(text)).toEqual({ blocks: [], left: [{ word: undefined, line: 1 }] });
    expect(codeOf(text, { unlabelled: "python" })).toEqual([["python", "python\nprint(1)\n"]]);
  });

  test("agent-and-executor 42: a longer fence holds shorter ones", () => {
    expect(codeOf(`${fence}\`python\ntext = """\n${fence}js\nx\n${fence}\n"""\n${fence}\``)).toEqual([["python", `text = """\n${fence}js\nx\n${fence}\n"""\n`]]);
  });

  test("agent-and-executor 43: a block closes only at the start of a line", () => {
    expect(codeOf(`${fence}python\nprint('''${fence}''')\nprint(2)\n${fence}`)).toEqual([["python", `print('''${fence}''')\nprint(2)\n`]]);
  });

  test("agent-and-executor 44: a fence in a list or quote loses its indentation, and only that", () => {
    expect(codeOf(`1. Run:\n\n   ${fence}python\n   if True:\n       print(1)\n   ${fence}\n`)).toEqual([["python", "if True:\n    print(1)\n"]]);
    expect(codeOf(`- a\n  - b\n    ${fence}sh\n    ls\n    ${fence}`)).toEqual([["shell", "ls\n"]]);
    expect(codeOf(`> ${fence}py\n> x = 1\n>\n> y = 2\n> ${fence}`)).toEqual([["python", "x = 1\n\ny = 2\n"]]);
    expect(codeOf(`  ${fence}python\n  x = 1\n    y = 2\n  ${fence}`)).toEqual([["python", "x = 1\n  y = 2\n"]]);
  });

  test("agent-and-executor 45: a block that is never closed reaches to the end and says so", () => {
    expect(blocksOf(`text\n${fence}python\nprint(1)\nprint(`)).toEqual([{ language: "python", code: "print(1)\nprint(\n", line: 3, unclosed: true }]);
    expect(blocksOf(`${fence}\`python\nx = 1\n${fence}`)).toMatchObject([{ code: `x = 1\n${fence}\n`, unclosed: true }]);
    expect(blocksOf(`${fence}python\nx = 1\n${fence}`)).toMatchObject([{ unclosed: false }]);
  });

  test("agent-and-executor 46: empty blocks, JSON, Markdown and code in the text are left out; the order is kept", () => {
    const text = `Use \`rm -rf /\`:\n\n    python indented\n\n${fence}python\n\n  \n${fence}\n${fence}json\n{"a": 1}\n${fence}\n${fence}markdown\n# x\n${fence}\n${fence}ts\n1\n${fence}\n${fence}sh\n2\n${fence}\n${fence}py\n3\n${fence}`;
    expect(codeOf(text)).toEqual([["typescript", "1\n"], ["shell", "2\n"], ["python", "3\n"]]);
    expect(extractCodeBlocks(text).left.map(({ word }) => word)).toEqual(["json", "markdown"]);
    expect(codeOf(text, { languages: ["python"] })).toEqual([["python", "3\n"]]);
  });

  test("code is what stood there: tabs, NUL and lone surrogates too", () => {
    expect(codeOf(`${fence}sh\n\tprintf 'a\0b\ud800'\n${fence}`)).toEqual([["shell", "\tprintf 'a\0b\ud800'\n"]]);
  });

  test("whatever the text, it does not throw, and a block put between others is found as it is", () => {
    const piece = fc.constantFrom("```", "````", "~~~", "python", "py\n", "\n", "\r\n", "> ", "- ", "1. ", "    ", "\t", "x", "<!--", "<script>", "[a]: b", "\0", "\ud800", "*_ ", "\\", "`");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(Array.isArray(extractCodeBlocks(pieces.join(""), { unlabelled: "python" }).blocks)).toBe(true);
      }),
      { numRuns: 300 },
    );
    const line = fc.string({ maxLength: 20 }).map((text) => text.replace(/[\r\n\0]/g, ""));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.constantFrom("`", "~"), (lines, mark) => {
        const code = lines.join("\n");
        if (code.trim() === "") return;
        const marks = mark.repeat(Math.max(3, ...Array.from(code.matchAll(/`+|~+/g), ([run]) => run.length + 1)));
        expect(blocksOf(`before\n\n${marks}python\n${code}\n${marks}\nafter`)).toEqual([{ language: "python", code: `${code}\n`, line: 4, unclosed: false }]);
      }),
    );
  });

  test("twice the text takes about twice the time, for texts that are made to take longer", () => {
    const hostile: readonly ((size: number) => string)[] = [
      (size) => "*a_ ".repeat(size),
      (size) => "> ".repeat(size),
      (size) => "- ".repeat(size),
      (size) => `${fence}\n`.repeat(size),
      (size) => "`".repeat(size),
      (size) => "\n".repeat(size * 4),
      (size) => `[${"\\".repeat(size)}`,
      (size) => `${fence}py ${"{".repeat(size)}\nx`,
      (size) => "<!-- ".repeat(size),
    ];
    const cost = (text: string): number => {
      const before = process.cpuUsage();
      extractCodeBlocks(text, { unlabelled: "python" });
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    for (const make of hostile) {
      const [small, large] = [make(4_000), make(16_000)].map((text) => Math.min(...[1, 2, 3].map(() => cost(text))));
      // Four times the text; sixteen times the work would be a square. The floor keeps clock ticks out of it.
      expect((large ?? 0) / Math.max(small ?? 0, 5_000), make(2)).toBeLessThan(12);
    }
  });
});
