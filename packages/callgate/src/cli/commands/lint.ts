import { CallgateError } from "@callgate/contract";
import { createLazyTokenCounter } from "@callgate/runtime";
import { lintRules } from "../../lint/lint-rules.ts";
import { lintTools } from "../../lint/lint-tools.ts";
import type { LintReport } from "../../lint/lint-tools.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { counted, visible } from "../terminal.ts";

/** Tools that a rule is told for by name; of what it found besides, the number. */
const maxTold = 20;

/** `callgate lint [NAMESPACE...]`: exit code 1 where there is a warning. */
export async function lintCommand(namespaces: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { config } = await context.configuration();
  return await context.withGate(async (gate) => {
    const { terminal, options } = context;
    const known = gate.namespaces().map(({ namespace }) => namespace);
    const unknown = namespaces.filter((namespace) => !known.includes(namespace));
    if (unknown.length > 0) throw new CallgateError("USAGE", `No namespace ${unknown.join(", ")}; there are: ${known.join(", ") || "none"}`);
    const tools = gate.tools().filter(({ namespace }) => namespaces.length === 0 || namespaces.includes(namespace));
    const report = lintTools(tools, { counter: await createLazyTokenCounter().load(), levels: config.lint?.rules ?? {} });
    if (options.json === true) terminal.out(`${JSON.stringify(report)}\n`);
    else show(report, context);
    return report.findings.some(({ level }) => level === "warning") ? exitCodes.failed : exitCodes.ok;
  }, { about: namespaces.length === 0 ? "told" : namespaces });
}

function show({ findings, tools, tokens }: LintReport, { terminal }: CommandContext): void {
  const { outColors: colors } = terminal;
  for (const { id, advice } of lintRules) {
    const found = findings.filter(({ rule }) => rule === id);
    const [first] = found;
    if (first === undefined) continue;
    terminal.out(`${first.level === "warning" ? colors.yellow(id) : colors.dim(id)}  ${counted(found.length, "tool")}\n`);
    // What is a note of most tools is told by its number.
    if (first.level === "warning") {
      terminal.out(renderTable(["", ""], found.slice(0, maxTold).map(({ tool, message }) => [`  ${tool}`, visible(message)]), { columns: terminal.outColumns, colors }).replace(/^\s*\n/, ""));
      if (found.length > maxTold) terminal.out(`  and ${found.length - maxTold} more (--json names all)\n`);
    }
    terminal.out(colors.dim(`  ${advice}\n`));
  }
  const dearest = tools.slice(0, 3).map(({ tool, tokens: own }) => `${tool} ${own}`);
  terminal.out(`${counted(tools.length, "tool")}, ${tokens.toLocaleString("en")} tokens in full${dearest.length === 0 ? "" : ` (most: ${dearest.join(", ")})`}\n`);
}
