import ts from "./typescript.cjs";
import { didYouMean, nearest } from "@callgate/runtime/check-parts";
import type { Said } from "@callgate/runtime/check-parts";
import type { Environment } from "./environment.ts";

/** Names of other worlds, and what this one has instead. */
const instead: Readonly<Record<string, string>> = {
  fetch: "A program has no network; use a tool that makes the request, and find one with await tools.search(\"http request\")",
  XMLHttpRequest: "A program has no network; use a tool that makes the request",
  axios: "A program has no network; use a tool that makes the request",
  WebSocket: "A program has no network; use a tool",
  process: "A program has no process, environment or arguments; what it needs comes from tools or is written into it",
  Deno: "A program has no Deno; use tools",
  Bun: "A program has no Bun; use tools",
  require: 'Write import { namespace } from "tools", or use the global tools',
  module: "A program exports nothing; return the value",
  exports: "A program exports nothing; return the value",
  Buffer: "Use Uint8Array, TextEncoder, TextDecoder, atob and btoa",
  window: "There is no browser; tools, console and the other globals stand by themselves",
  document: "There is no browser and no page; use a tool that fetches and reads it",
  self: "Use globalThis",
  global: "Use globalThis",
  localStorage: "Nothing is kept between runs; return the value, and read it later with results.read(handle)",
  fs: "A program has no files; use a tool of a filesystem source, and find one with await tools.search(\"read a file\")",
  path: "A program has no files; join paths with template strings",
  setImmediate: "Use setTimeout(callback, 0) or queueMicrotask(callback)",
  print: "Use console.log, or return the value",
  sleep: "Write await new Promise((done) => setTimeout(done, ms))",
  codemode: "Tools are in the global tools: tools.<namespace>.<tool>(args)",
  call_tool: "Call tools as tools.<namespace>.<tool>(args)",
  callTool: "Call tools as tools.<namespace>.<tool>(args)",
};

const globals = ["console", "tools", "results", "text", "progress", "sleep", "waitFor", "JSON", "Math", "Object", "Array", "Promise", "structuredClone", "setTimeout", "URL", "crypto"];

/** A name that does not exist here. */
export function explainName(diagnostic: ts.Diagnostic, node: ts.Node, environment: Environment): Said | undefined {
  if (![2304, 2552, 2580, 2584, 2591, 2592, 2867, 2868].includes(diagnostic.code) || !ts.isIdentifier(node)) return undefined;
  const name = node.text;
  const hint = environment.modules === undefined && Object.hasOwn(instead, name) ? instead[name] : undefined;
  if (hint !== undefined) return { message: `${name} does not exist here. ${hint}` };
  const away = environment.unavailable.get(name);
  if (away !== undefined) return { code: "SOURCE_UNAVAILABLE", message: away };
  if (environment.namespaces.has(name)) return { message: `${name} is not imported; write tools.${name}, or import { ${name} } from "tools"`, suggestions: [`tools.${name}`] };
  const owners = [...environment.namespaces.values()].filter(({ tools }) => tools.has(name)).map(({ namespace }) => `tools.${namespace}.${name}`);
  if (owners.length > 0) return { message: `${name} is a tool and is not imported; write ${owners.slice(0, 3).join(" or ")}`, suggestions: owners.slice(0, 5) };
  const declared = namesInFile(node.getSourceFile(), node);
  const near = nearest(name, [...declared, ...globals, ...environment.namespaces.keys()]).names;
  const suggestions = near.map((found) => (environment.namespaces.has(found) && !declared.has(found) ? `tools.${found}` : found));
  return { message: `${name} is not declared${didYouMean(suggestions)}${suggestions.length === 0 ? ". Each run is fresh: variables of earlier runs are gone, their results are read with results.read(handle)" : ""}`, suggestions };
}

/** Names declared anywhere in the program: near enough for a suggestion. */
function namesInFile(file: ts.SourceFile, except: ts.Identifier): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if ((ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node)) && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  names.delete(except.text);
  return names;
}
