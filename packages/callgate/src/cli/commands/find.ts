import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { FoundNamespace, Gate, ToolDetail, ToolView, UnavailableNamespace } from "@callgate/contract";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";
import { visible } from "../terminal.ts";

export interface SearchCommandOptions {
  readonly limit?: number;
  readonly namespace?: string;
  readonly detail?: string;
}

const details = ["namespace", "name", "line", "signature", "full"] as const satisfies readonly ToolDetail[];

/** `callgate search [QUERY]`: without a query, everything by namespace. */
export async function searchCommand(query: string, options: SearchCommandOptions, context: CommandContext): Promise<ExitCode> {
  const { limit = 20, namespace, detail: asked = "line" } = options;
  const detail = details.find((level) => level === asked);
  if (detail === undefined) throw new CallgateError("USAGE", `--detail is ${details.join(", ")}, not "${asked}"`);
  return await context.withGate(async (gate) => {
    const { terminal } = context;
    const onNotice = (message: string): void => terminal.err(`${terminal.colors.yellow("note")} ${visible(message)}\n`);
    if (namespace !== undefined && !gate.namespaces().some((one) => one.namespace === namespace)) throw new CallgateError("USAGE", `No namespace ${namespace}; find one with: callgate search --detail namespace`);
    if (detail === "namespace") {
      writeNamespaces(await gate.searchNamespaces(query, { limit: query === "" ? Infinity : limit, onNotice }), context);
      return exitCodes.ok;
    }
    const found = query === "" ? gate.tools().filter((tool) => namespace === undefined || tool.namespace === namespace) : await gate.search(query, { limit, onNotice, ...(namespace === undefined ? {} : { namespace }) });
    if (context.options.json === true) {
      terminal.out(`${JSON.stringify(found.map((tool) => (detail === "full" ? fullJson(tool) : viewJson(tool))))}\n`);
    } else if (found.length === 0) {
      terminal.err(query === "" ? "There are no tools; add an MCP server or a tools folder (callgate init)\n" : `No tool matches "${query}"; list all with callgate search\n`);
    } else {
      writeTools(found, detail, context);
    }
    return exitCodes.ok;
  });
}

function writeTools(found: readonly ToolView[], detail: Exclude<ToolDetail, "namespace">, context: CommandContext): void {
  const { terminal } = context;
  switch (detail) {
    case "name":
      return terminal.out(found.map(({ name }) => `${name}\n`).join(""));
    case "line":
      return terminal.out(renderTable(["tool", "effect", "what it does"], found.map((tool) => [tool.name, tool.spec.effect, visible(tool.line)]), { columns: terminal.outColumns, colors: terminal.outColors }));
    case "signature":
      return terminal.out(found.map((tool) => `${tool.namespace}.${tool.signature}\n`).join(""));
    case "full":
      return terminal.out(found.map((tool) => describe(tool, context)).join(""));
  }
}

function writeNamespaces(found: readonly FoundNamespace[], { terminal, options }: CommandContext): void {
  if (options.json === true) terminal.out(`${JSON.stringify(found)}\n`);
  else if (found.length === 0) terminal.err("No namespace has a tool that matches; list all with callgate search --detail namespace\n");
  else terminal.out(renderTable(["namespace", "tools", "what is behind it"], found.map(({ namespace, toolCount, purpose }) => [namespace, String(toolCount), visible(purpose ?? "")]), { columns: terminal.outColumns, colors: terminal.outColors }));
}

function viewJson(tool: ToolView): Readonly<Record<string, unknown>> {
  return { name: tool.name, effect: tool.spec.effect, description: tool.spec.description, signature: tool.signature, interfaceDigest: tool.interfaceDigest };
}

/** `callgate templates`: those that can be used, and those that name tools which are not there. */
export async function templatesCommand(context: CommandContext): Promise<ExitCode> {
  const { config, folder } = await context.configuration();
  const { folderTemplates } = await import("../../folder/folder-templates.ts");
  const all = config.templatesFolder === false ? [] : folderTemplates(resolve(folder, config.templatesFolder ?? "templates"));
  return await context.withGate((gate) => {
    const { terminal } = context;
    const known = new Set(gate.tools().map(({ name }) => name));
    const listed = all.map((template) => ({ ...template, missing: template.tools.filter((tool) => !known.has(tool)) }));
    if (context.options.json === true) terminal.out(`${JSON.stringify(listed)}\n`);
    else if (listed.length === 0) terminal.err("There are no templates; a file templates/NAME.md is one (docs/guide/templates.md)\n");
    else terminal.out(renderTable(["template", "when", "tools"], listed.map(({ name, when, tools }) => [name, visible(when), tools.join(", ")]), { columns: terminal.outColumns, colors: terminal.outColors }));
    for (const { name, missing } of listed) if (missing.length > 0) terminal.err(`${terminal.colors.yellow("note")} ${name} is shown to nobody who may not call ${missing.join(", ")}; you may not, or it is not there\n`);
    return Promise.resolve(exitCodes.ok);
  });
}

function fullJson(tool: ToolView): Readonly<Record<string, unknown>> {
  return { ...viewJson(tool), input: tool.spec.input, ...(tool.spec.output === undefined ? {} : { output: tool.spec.output }), ...(tool.learned === undefined ? {} : { observedOutput: tool.learned }) };
}

/** `callgate describe TOOL...` */
export async function describeCommand(names: readonly string[], context: CommandContext): Promise<ExitCode> {
  return await context.withGate((gate) => {
    const { terminal } = context;
    const found = gate.describe(names);
    const missing = names.filter((name) => !found.some((tool) => tool.name === name));
    if (context.options.json === true) {
      terminal.out(`${JSON.stringify(found.map(fullJson))}\n`);
    } else {
      for (const tool of found) terminal.out(describe(tool, context));
    }
    for (const name of missing) {
      const away = awayOf(gate, name);
      if (away !== undefined) {
        terminal.err(`${visible(away.message)}\n`);
        continue;
      }
      const near = gate.nearest(name);
      const way = near.length === 0 ? `find one with: callgate search ${JSON.stringify(name.replaceAll(/[._-]+/g, " ").trim())}` : `nearest: ${near.join(", ")}`;
      terminal.err(`No tool "${visible(name)}"; ${visible(way)}\n`);
    }
    return Promise.resolve(missing.length === 0 ? exitCodes.ok : exitCodes.failed);
  }, { about: names });
}

/** The namespace of a name, where its source cannot be reached. */
function awayOf(gate: Gate, name: string): UnavailableNamespace | undefined {
  return gate.namespaces().find(({ namespace }) => namespace === name.split(".")[0])?.unavailable;
}

function describe(tool: ToolView, { terminal }: CommandContext): string {
  const { spec } = tool;
  const { bold, dim } = terminal.outColors;
  const facts = [`effect ${spec.effect}`, `timeout ${spec.timeoutMs} ms`, `version ${spec.version}`, ...spec.tags];
  const lines = [bold(tool.name), visible(spec.description), "", tool.signature, dim(facts.join(" · "))];
  if (tool.learned !== undefined) lines.push(dim(`output observed from ${tool.learned.calls} ${tool.learned.calls === 1 ? "call" : "calls"}, not declared: any field may be missing`));
  if (spec.deprecated !== undefined) lines.push(`deprecated: ${visible(spec.deprecated)}`);
  if (spec.secrets !== undefined) lines.push(`may be given ${spec.secrets.map((name) => `secret://${name}`).join(", ")}`);
  for (const error of spec.errors) lines.push(`  ${error.code}: ${visible(error.description)}`);
  return `${lines.join("\n")}\n\n`;
}

/** `callgate types [NAMESPACE...]` */
export async function typesCommand(
  namespaces: readonly string[],
  options: { readonly language?: string; readonly out?: string },
  context: CommandContext,
): Promise<ExitCode> {
  const language = options.language ?? "typescript";
  if (language !== "typescript" && language !== "python") throw new CallgateError("USAGE", `--language is typescript or python, not "${language}"`);
  return await context.withGate(async (gate) => {
    const known = new Set(gate.namespaces().flatMap((view) => (view.toolCount > 0 || view.unavailable !== undefined ? [view.namespace] : [])));
    const unknown = namespaces.filter((namespace) => !known.has(namespace));
    if (unknown.length > 0) throw new CallgateError("USAGE", `No namespace ${unknown.join(", ")}; there are: ${[...known].join(", ") || "none"}`);
    const away = namespaces.map((namespace) => awayOf(gate, namespace)).find((one) => one !== undefined);
    if (away !== undefined) throw new CallgateError("SOURCE_FAILED", away.message);
    const text = gate.declarations({ language, ...(namespaces.length === 0 ? {} : { namespaces }) });
    if (context.options.json === true) context.terminal.out(`${JSON.stringify({ language, text })}\n`);
    else if (options.out === undefined) context.terminal.out(`${text}\n`);
    else {
      await writeFile(options.out, `${text}\n`);
      context.terminal.err(`wrote ${options.out}\n`);
    }
    return exitCodes.ok;
  });
}
