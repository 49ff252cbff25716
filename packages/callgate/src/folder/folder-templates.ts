import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { TaskTemplate } from "@callgate/contract";
import { isNode, LineCounter, parseDocument } from "yaml";
import type { Document } from "yaml";
import { z } from "zod";

const head = z.strictObject({
  when: z.string().min(1),
  tools: z.array(z.string().regex(/^[A-Za-z_]\w*\.[A-Za-z_]\w*$/, "is a qualified name, such as crm.get_customer")).min(1),
  inputs: z.record(z.string().regex(/^[A-Za-z_]\w*$/, "is of letters, digits and _"), z.string().min(1)).default({}),
  skeleton: z.string().min(1),
});

/**
 * The task templates of a folder: `NAME.md`, its front matter `{ when, tools, inputs, skeleton }`, its text what else there is to
 * know. The caller answers for trust: models read them. A folder that is not there has none.
 *
 * Errors: `CallgateError` CONFIG_INVALID naming every fault with its file and line.
 */
export function folderTemplates(folder: string): readonly TaskTemplate[] {
  const faults: string[] = [];
  const templates = templateFiles(folder).flatMap((file) => {
    const read = readTemplate(basename(file, ".md"), readFileSync(join(folder, file), "utf8"));
    if ("template" in read) return [read.template];
    faults.push(...read.faults.map(({ line, what }) => `${basename(folder)}/${file}:${line}: ${what}`));
    return [];
  });
  if (faults.length > 0) throw new CallgateError("CONFIG_INVALID", `Templates that cannot be read:\n${faults.join("\n")}`);
  return templates;
}

function templateFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name.endsWith(".md") && entry.name !== "README.md").map(({ name }) => name).sort();
  } catch {
    return [];
  }
}

interface Fault {
  /** Of the file, from 1. */
  readonly line: number;
  readonly what: string;
}

function readTemplate(name: string, source: string): { readonly template: TaskTemplate } | { readonly faults: readonly Fault[] } {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) return { faults: [{ line: 1, what: "the name of a template is of lower case letters, digits and -" }] };
  const [, front, text = ""] = /^---\r?\n([^]*?)\r?\n---(?:\r?\n([^]*))?$/.exec(source) ?? [];
  if (front === undefined) return { faults: [{ line: 1, what: "begins with no front matter: --- alone on its first line, and again after when, tools, inputs and skeleton" }] };
  const lines = new LineCounter();
  const document = parseDocument(front, { lineCounter: lines });
  // The opening line of the front matter is the file's first.
  const lineAt = (offset: number): number => lines.linePos(offset).line + 1;
  if (document.errors.length > 0) return { faults: document.errors.map((error) => ({ line: lineAt(error.pos[0]), what: error.message.split("\n")[0]?.replace(/ at line \d+, column \d+:?$/, "") ?? "" })) };
  const read = head.safeParse(document.toJS() ?? {});
  if (!read.success) return { faults: read.error.issues.map(({ path, message }) => ({ line: lineAt(offsetOf(document, path)), what: `${path.join(".") || "front matter"}: ${message}` })) };
  const strange = strangePlaces(read.data, text);
  if (strange.length > 0) return { faults: strange.map((place) => ({ line: lineOf(source, `{{${place}}}`), what: `{{${place}}} is none of inputs` })) };
  return { template: { name, ...read.data, text: text.trim() } };
}

/** Where the value is, or the nearest thing around it that is there. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

/** Places to fill in that no input is named for. */
function strangePlaces({ inputs, skeleton }: z.infer<typeof head>, text: string): readonly string[] {
  const places = [...`${skeleton}\n${text}`.matchAll(/\{\{([A-Za-z_]\w*)\}\}/g)].map(([, place = ""]) => place);
  return [...new Set(places)].filter((place) => !Object.hasOwn(inputs, place));
}

function lineOf(source: string, part: string): number {
  return source.slice(0, source.indexOf(part)).split("\n").length;
}
