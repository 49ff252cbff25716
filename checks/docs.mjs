// Guards documents that are printed from source: each part between `<!-- printed: NAME -->` and `<!-- end: NAME -->` must
// equal what its printer says now. `node checks/docs.mjs --write` brings them up to date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { printers } from "./printers.mjs";

const write = process.argv.includes("--write");
let stale = 0;
for (const { file, name, print } of printers) {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const opening = `<!-- printed: ${name} -->`;
  const closing = `<!-- end: ${name} -->`;
  const [start, end] = [text.indexOf(opening), text.indexOf(closing)];
  const printed = `${print().trim()}\n`;
  if (name === "whole file") {
    if (text !== printed) settle(file, name, printed);
    continue;
  }
  if (start < 0 || end < start) {
    console.error(`${file}: has no part ${opening} ... ${closing}`);
    stale++;
  } else if (text.slice(start + opening.length, end) !== `\n${printed}`) {
    settle(file, name, `${text.slice(0, start + opening.length)}\n${printed}${text.slice(end)}`);
  }
}

function settle(file, name, text) {
  if (write) writeFileSync(file, text);
  else {
    console.error(`${file}: "${name}" is not what the source says; run: node checks/docs.mjs --write`);
    stale++;
  }
}
console.log(`${printers.length} printed parts, ${stale} stale`);
process.exitCode = stale === 0 ? 0 : 1;
