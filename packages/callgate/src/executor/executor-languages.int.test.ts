import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createBubblewrapLauncher } from "@callgate/sandbox-process";
import { describe, expect, test } from "vitest";
import { createCodeExecutor } from "./create-code-executor.ts";

const probe = await createBubblewrapLauncher().probe();
const why = probe.kind === "ready" ? "" : ` (skipped: ${probe.reason}; ${probe.fix})`;

describe.skipIf(probe.kind !== "ready")(`languages of a code executor${why}`, { timeout: 120_000 }, () => {
  test("Node and a language by command work in the same folder as Python and shell", async () => {
    await using executor = await createCodeExecutor({ sandbox: { launcher: "bubblewrap", languages: { perl: { command: ["perl"] } } } });
    expect(executor.languages).toEqual(["python", "shell", "javascript", "typescript", "node", "perl"]);
    expect(executor.prompt).toContain("perl");
    const result = await executor.executeMarkdown(
      ["```python", "open('a.txt', 'w').write('from python')", "```", "```node", 'import { readFileSync, writeFileSync } from "node:fs";', 'writeFileSync("b.txt", readFileSync("a.txt", "utf8") + ", node");', "```", "```perl", '# filename: last.pl', 'open my $f, "<", "b.txt" or die; print <$f>, ", perl\\n"; exit 7', "```"].join("\n"),
    );
    expect(result.blocks.map(({ language, exitCode }) => [language, exitCode]), result.text).toEqual([["python", 0], ["node", 0], ["perl", 7]]);
    expect(result.stdout).toBe("from python, node, perl\n");
    expect(existsSync(join(executor.workDir, "last.pl")) && readFileSync(join(executor.workDir, "b.txt"), "utf8")).toBe("from python, node");
  });

  test("a command that is not there is 127, an unknown language 1", async () => {
    await using executor = await createCodeExecutor({ sandbox: { launcher: "bubblewrap", languages: { ruby: { command: ["no-such-ruby"] } } } });
    expect(await executor.execute([{ language: "rb", code: "puts 1" }])).toMatchObject({ exitCode: 127, blocks: [{ error: { message: expect.stringContaining("no-such-ruby") as string } }] });
    expect(await executor.execute([{ language: "perl", code: "print 1" }])).toMatchObject({ exitCode: 1 });
  });
});
