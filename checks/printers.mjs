// What is printed into documents, and from what. One printer a part; checks/docs.mjs compares and writes.
import { callErrorCodes, callgateErrorCodes, defaultLimits } from "@callgate/contract";
import { modules } from "./module-map.mjs";

const row = (...cells) => `| ${cells.join(" | ")} |`;

function moduleTable() {
  const rows = Object.entries(modules).map(([name, { does, imports }]) => row(`\`${name}\``, does, imports.length === 0 ? "nothing" : imports.map((other) => other.replace("runtime/", "")).join(", ")));
  return [row("module", "does", "may import"), row("---", "---", "---"), ...rows].join("\n");
}

function codeTable(codes) {
  return [row("code", "meaning"), row("---", "---"), ...Object.entries(codes).map(([code, meaning]) => row(`\`${code}\``, meaning))].join("\n");
}

function limitTable() {
  return [row("limit", "default"), row("---", "---"), ...Object.entries(defaultLimits).map(([name, value]) => row(`\`${name}\``, value.toLocaleString("en-US")))].join("\n");
}

/** `name: "whole file"` means that all of the file is printed. */
export const printers = [
  { file: "ARCHITECTURE.md", name: "modules", print: moduleTable },
  { file: "docs/reference/errors.md", name: "call errors", print: () => codeTable(callErrorCodes) },
  { file: "docs/reference/errors.md", name: "thrown errors", print: () => codeTable(callgateErrorCodes) },
  { file: "docs/reference/limits.md", name: "limits", print: limitTable },
];
