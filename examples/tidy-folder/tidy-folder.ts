// Files: a model's answer tidies a folder of downloads. The folder is the working folder: blocks can change what is in it,
// and nothing else on this machine.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCodeExecutor } from "callgate";

const answer = `
I sort the files by kind first, then write what is there into an index.

\`\`\`bash
for file in *.*; do
  kind="\${file##*.}"
  mkdir -p "$kind" && mv -- "$file" "$kind/"
done
\`\`\`

\`\`\`python
# filename: index.py
import json
import pathlib

found = {str(path): path.stat().st_size for path in sorted(pathlib.Path(".").glob("*/*")) if path.parent.name != "out"}
pathlib.Path("index.json").write_text(json.dumps(found, indent=2))
len(found)
\`\`\`

\`\`\`bash
ls ../etc/shadow /root /home 2>/dev/null | head -3; test ! -r /etc/shadow && echo "nothing else is here"
\`\`\`
`;

await using executor = await createCodeExecutor();
const names = ["a.txt", "b b.txt", "photo.jpg", "notes.md"];
for (const name of names) writeFileSync(join(executor.workDir, name), name, { mode: 0o666 });
const result = await executor.executeMarkdown(answer);
if (result.exitCode === 126) console.log(`skipped: ${result.blocks[0]?.error?.message ?? "no sandbox"}`);
else {
  assert.equal(result.exitCode, 0, result.text);
  assert.deepEqual(readdirSync(join(executor.workDir, "txt")).sort(), ["a.txt", "b b.txt"]);
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(executor.workDir, "index.json"), "utf8")) as object).sort(), ["jpg/photo.jpg", "md/notes.md", "txt/a.txt", "txt/b b.txt"]);
  assert.ok(readdirSync(executor.workDir).includes("index.py"), "what was named is kept");
  assert.match(result.stdout, /nothing else is here/);
  console.log(`tidied ${names.length} files in ${result.blocks.length} blocks`);
}
