import { printDoc, printTypeScript } from "./print-typescript.ts";
import type { PrintOptions } from "./print-typescript.ts";
import { namespaceTypes } from "./tool-types.ts";
import type { DeclaredTool, ToolTypes } from "./tool-types.ts";

/** Longest one-line signature. */
export const maxSignatureChars = 320;

/**
 * A namespace as `declare module "tools/<namespace>" { ... }`, self-contained.
 *
 * Each tool is a function of one object; the argument may be left out when nothing in it is required. A tool without an
 * output schema is `name<Output = unknown>(...)`: nothing is claimed about what comes back, and a program that knows
 * better says so in one place (`list<{ id: string }[]>(...)`, or the type of the variable) instead of casting. `any`
 * would switch the checker off for everything the value touches. What such a tool was seen to answer stands there in place of `unknown`.
 *
 * A paged tool has a member of its own, `pages`, whose types are taken of the tool's, not said again.
 */
export function declareTypeScript(namespace: string, tools: readonly DeclaredTool[]): string {
  const types = namespaceTypes(tools);
  const functions = types.tools.map((tool) => `${printDoc(tool.doc, "  ")}  export function ${signatureOf(tool, { indent: 2 })};\n${pagesOf(tool)}`);
  const named = types.named.map(({ name, type }) => `  export type ${name} = ${printTypeScript(type, { indent: 2 })};\n`);
  return `declare module "tools/${namespace}" {\n${[...functions, ...named].join("\n")}}\n`;
}

/** One tool in one line, at most `maxSignatureChars`; what does not fit is `…`. */
export function signatureLine(tool: DeclaredTool): string {
  const [types] = namespaceTypes([tool]).tools;
  if (types === undefined) return tool.member;
  for (const maxDepth of [8, 3, 2, 1]) {
    const line = signatureOf(types, { maxDepth });
    if (line.length <= maxSignatureChars) return line;
  }
  const names = types.input.kind === "object" ? types.input.properties.map(({ name, optional }) => (optional ? `${name}?` : name)) : [];
  const head = `${types.member}(input${types.inputOptional ? "?" : ""}: {`;
  const room = maxSignatureChars - head.length - 24;
  let shown = "";
  for (const name of names) {
    if (shown.length + name.length + 2 > room) break;
    shown += ` ${name};`;
  }
  return `${head}${shown} … }): Promise<…>`;
}

function pagesOf({ member, inputOptional, paged }: ToolTypes): string {
  if (!paged) return "";
  return `  export namespace ${member} {\n    function pages(input${inputOptional ? "?" : ""}: Parameters<typeof ${member}>[0]): AsyncIterable<Awaited<ReturnType<typeof ${member}>>["page"]>;\n  }\n`;
}

function signatureOf({ member, input, inputOptional, output, learned }: ToolTypes, options: PrintOptions): string {
  const argument = `input${inputOptional ? "?" : ""}: ${printTypeScript(input, options)}`;
  const seen = learned === undefined ? "unknown" : printTypeScript(learned, options);
  return output === undefined ? `${member}<Output = ${seen}>(${argument}): Promise<Output>` : `${member}(${argument}): Promise<${printTypeScript(output, options)}>`;
}
