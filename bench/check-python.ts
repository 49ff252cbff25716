// What a check of Python costs, as ratios to the check of the same program in TypeScript in the same run, because
// milliseconds differ between machines: first check of a new checker, and warm medians for 10 and 60 lines.
import { createPythonChecker } from "@callgate/check-python";
import { createTypeScriptChecker } from "@callgate/check-typescript";
import type { Checker, NamespaceDeclaration } from "@callgate/contract";
import { median } from "./median.ts";

const rounds = 15;
const names = Array.from({ length: 25 }, (_, tool) => `tool_${tool}`);
const tools = names.map((name) => ({ name, effect: "read" as const }));
const typescript: NamespaceDeclaration = { namespace: "space", digest: "ts", tools, text: `declare module "tools/space" {\n${names.map((name) => `  export function ${name}(input: { id: string; limit?: number }): Promise<{ items: { title: string; amount: number; tags: string[] }[] }>;`).join("\n")}\n}\n` };
const python: NamespaceDeclaration = { namespace: "space", digest: "py", tools, text: `from typing import TypedDict\n\nclass Item(TypedDict):\n    title: str\n    amount: float\n    tags: list[str]\n\nclass Page(TypedDict):\n    items: list[Item]\n\n${names.map((name) => `def ${name}(*, id: str, limit: int = ...) -> Page: ...\n`).join("")}` };

const blocks = (lines: number, block: (index: number) => string): string => Array.from({ length: Math.ceil(lines / 5) }, (_, index) => block(index)).join("\n");
const programs = {
  typescript: (lines: number, salt: number) => `${blocks(lines, (index) => `const page${index} = await tools.space.tool_${index % 5}({ id: "a${salt}", limit: ${index + 1} });\nconst open${index} = page${index}.items.filter((item) => item.tags.includes("open"));\nconst total${index} = open${index}.reduce((sum, item) => sum + item.amount, 0);\nif (total${index} > 10)\n  console.log(open${index}.map((item) => item.title).join(", "));`)}\nreturn total0;`,
  python: (lines: number, salt: number) => `from tools import space\n${blocks(lines, (index) => `page${index} = space.tool_${index % 5}(id="a${salt}", limit=${index + 1})\nopen${index} = [item for item in page${index}["items"] if "open" in item["tags"]]\ntotal${index} = sum(item["amount"] for item in open${index})\nif total${index} > 10:\n    print(", ".join(item["title"] for item in open${index}))`)}\ntotal0`,
};

const { signal } = new AbortController();

async function timeOf(checker: Checker, text: string, declaration: NamespaceDeclaration): Promise<number> {
  const startedMs = performance.now();
  const report = await checker.check({ text, namespaces: [declaration], lane: "execute", limits: { sourceBytes: 262_144 } }, signal);
  if (report.kind !== "ok") throw new Error(JSON.stringify(report.diagnostics[0]));
  return performance.now() - startedMs;
}

const [ts, py] = [createTypeScriptChecker(), createPythonChecker()];
const cold = [await timeOf(ts, programs.typescript(10, 0), typescript), await timeOf(py, programs.python(10, 0), python)] as const;
console.log(`first check: python ${cold[1].toFixed(0)} ms, typescript ${cold[0].toFixed(0)} ms, ratio ${(cold[1] / cold[0]).toFixed(1)}`);
for (const lines of [10, 60]) {
  const times: { readonly ts: number[]; readonly py: number[] } = { ts: [], py: [] };
  for (let round = 1; round <= rounds * 2; round++) {
    const [a, b] = [await timeOf(ts, programs.typescript(lines, round), typescript), await timeOf(py, programs.python(lines, round), python)];
    // The first half is for the compilers of the machine.
    if (round <= rounds) continue;
    times.ts.push(a);
    times.py.push(b);
  }
  const [a, b] = [median(times.ts), median(times.py)];
  console.log(`${lines} lines, warm: python ${b.toFixed(1)} ms, typescript ${a.toFixed(1)} ms, ratio ${(b / a).toFixed(1)}`);
}
await Promise.all([ts.close(), py.close()]);
