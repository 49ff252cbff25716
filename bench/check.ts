// What a type check costs: warm medians for 10 and 60 lines with 10, 200 and 900 tools, each as a ratio to
// ts.transpileModule of the same text in the same run, because milliseconds differ between machines and ratios do not.
// `--checks N` runs N different programs after that and prints how the process's memory grew.
import { createTypeScriptChecker } from "@callgate/check-typescript";
import type { NamespaceDeclaration } from "@callgate/contract";
import ts from "typescript";
import { median } from "./median.ts";

const rounds = 250;
const toolsPerNamespace = 25;

function catalogOf(tools: number): NamespaceDeclaration[] {
  return Array.from({ length: Math.ceil(tools / toolsPerNamespace) }, (_, space) => {
    const names = Array.from({ length: Math.min(toolsPerNamespace, tools - space * toolsPerNamespace) }, (_unused, tool) => `tool_${tool}`);
    const text = `declare module "tools/space_${space}" {\n${names.map((name) => `  /** Does ${name}. */\n  export function ${name}(input: { id: string; limit?: number; filter?: { status: "open" | "closed"; tags?: string[] } }): Promise<{ items: { id: string; title: string; amount: number; tags: string[] }[]; next?: string }>;`).join("\n")}\n}\n`;
    return { namespace: `space_${space}`, digest: `${tools}-${space}`, text, tools: names.map((name) => ({ name, effect: "read" as const })) };
  });
}

/** Ten lines a block: a call, a filter, a sum, a condition. */
function programOf(lines: number, salt: number): string {
  const block = (index: number): string => `const page${index} = await tools.space_0.tool_${index % 5}({ id: "a${salt}", limit: ${index + 1} });
const open${index} = page${index}.items.filter((item) => item.tags.includes("open"));
const total${index} = open${index}.reduce((sum, item) => sum + item.amount, 0);
let label${index} = "none";
if (total${index} > 10) {
  label${index} = open${index}.map((item) => item.title).join(", ");
}
const best${index} = open${index}.toSorted((a, b) => b.amount - a.amount)[0];
console.log(label${index}, best${index}?.title ?? "nothing");`;
  return `${Array.from({ length: Math.max(1, Math.floor(lines / 10)) }, (_, index) => block(index)).join("\n")}\nreturn { total: total0 };`;
}

const limits = { sourceBytes: 262_144 };
const { signal } = new AbortController();
console.log("lines  tools  check ms  transpile ms  ratio");
for (const tools of [10, 200, 900]) {
  const checker = createTypeScriptChecker();
  const namespaces = catalogOf(tools);
  await checker.warm(namespaces);
  for (const lines of [10, 60]) {
    const checks: number[] = [];
    const plain: number[] = [];
    for (let round = 0; round < rounds * 2; round++) {
      const text = programOf(lines, round);
      const startedMs = performance.now();
      const report = await checker.check({ text, namespaces, limits, lane: "execute" }, signal);
      const checkedMs = performance.now();
      if (report.kind !== "ok") throw new Error(JSON.stringify(report.diagnostics[0]));
      ts.transpileModule(text, { compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } });
      // The first half is for the compilers of the machine.
      if (round < rounds) continue;
      plain.push(performance.now() - checkedMs);
      checks.push(checkedMs - startedMs);
    }
    const [check, transpile] = [median(checks), median(plain)];
    console.log(`${String(lines).padStart(5)}  ${String(tools).padStart(5)}  ${check.toFixed(1).padStart(8)}  ${transpile.toFixed(1).padStart(12)}  ${(check / transpile).toFixed(1).padStart(5)}`);
  }
  await checker.close();
}

const at = process.argv.indexOf("--checks");
if (at >= 0) {
  const checker = createTypeScriptChecker();
  const namespaces = catalogOf(200);
  await checker.warm(namespaces);
  const checks = Number(process.argv[at + 1] ?? 3_000);
  for (let index = 0; index <= checks; index++) {
    await checker.check({ text: programOf(20, index), namespaces, limits, lane: "execute" }, signal);
    if (index % 500 === 0) console.log(`${index} checks: ${Math.round(process.memoryUsage().rss / 1024 / 1024)} MiB`);
  }
  await checker.close();
}
