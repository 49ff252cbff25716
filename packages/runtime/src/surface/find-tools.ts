import type { FoundNamespace, Gate, JsonObject, Principal, ToolView, UnavailableNamespace } from "@callgate/contract";
import { shownNamespaces } from "./shown-namespaces.ts";
import { templateText } from "./template-text.ts";
import type { ToolArguments } from "./tool-inputs.ts";

/** Who looks for tools. */
export interface Finder {
  readonly gate: Gate;
  readonly principal: Principal;
  /** Which of the tools that the principal may call exist for who looks. Default: all. */
  readonly allows?: (tool: string) => boolean;
}

/** What was found, as a model reads it and as data. */
export interface FoundTools {
  /** Complete by itself. */
  readonly text: string;
  readonly structured: JsonObject;
  readonly isError?: true;
}

/** Answers `search_tools`, with what the list may lack because its source cannot be reached. */
export async function findTools(args: ToolArguments<"search_tools">, finder: Finder): Promise<FoundTools> {
  const notices = new Set<string>();
  const known = await searchKnown(args, finder, (notice) => void notices.add(notice));
  const found = withNotices(withTemplates(known, args, finder), [...notices]);
  const away = unavailable(finder).filter(({ namespace }) => args.namespace === undefined || args.namespace === namespace);
  if (away.length === 0) return found;
  return { ...found, text: [found.text, ...away.map(({ message }) => message)].join("\n\n"), structured: { ...found.structured, unavailable: away.map((one) => ({ ...one })) } };
}

function withNotices(found: FoundTools, notices: readonly string[]): FoundTools {
  return notices.length === 0 ? found : { ...found, text: [found.text, ...notices].join("\n\n"), structured: { ...found.structured, notices: [...notices] } };
}

/** Of these, the best is shown whole. */
const templatesShown = 3;

/** Beside the tools, what somebody has worked out for such a task. */
function withTemplates(found: FoundTools, { query, namespace }: ToolArguments<"search_tools">, { gate, principal, allows = () => true }: Finder): FoundTools {
  const [best, ...more] = gate.templates({ principal, query }).filter(({ tools }) => tools.every(allows) && (namespace === undefined || tools.some((tool) => tool.startsWith(`${namespace}.`)))).slice(0, templatesShown);
  if (best === undefined) return found;
  const others = more.map(({ name, when }) => `Template ${name}: ${when}`);
  const { name, when, tools, inputs, skeleton, text } = best;
  return {
    ...found,
    text: [found.text, templateText(best), ...(others.length === 0 ? [] : [others.join("\n")])].join("\n\n"),
    structured: { ...found.structured, templates: [{ name, when, tools, inputs, skeleton, text }, ...more.map((one) => ({ name: one.name, when: one.when }))] },
  };
}

function unavailable({ gate, principal }: Finder): readonly UnavailableNamespace[] {
  return gate.namespaces({ principal }).flatMap((view) => view.unavailable ?? []);
}

async function searchKnown({ query, namespace, limit, detail }: ToolArguments<"search_tools">, { gate, principal, allows }: Finder, onNotice: (notice: string) => void): Promise<FoundTools> {
  const hits = await gate.search(query, { principal, limit, onNotice, ...(namespace === undefined ? {} : { namespace }), ...(allows === undefined ? {} : { allows }) });
  if (hits.length === 0) {
    const names = shownNamespaces(gate, principal, allows).flatMap(({ namespace, toolCount }) => (toolCount > 0 ? [namespace] : []));
    return { text: `No tool matches "${query}". Namespaces: ${names.join(", ") || "none"}. Try other words, or one of these as namespace.`, structured: { tools: [] } };
  }
  switch (detail) {
    case "namespace":
      return namespacesFound(await gate.searchNamespaces(query, { principal, limit, ...(allows === undefined ? {} : { allows }) }));
    case "name":
      return { text: hits.map((hit) => hit.name).join("\n"), structured: { tools: hits.map(({ name }) => ({ name })) } };
    case "line":
      return { text: hits.map((hit) => `${hit.name} [${hit.spec.effect}]: ${hit.line}`).join("\n"), structured: { tools: hits.map(({ name, line, spec }) => ({ name, effect: spec.effect, line })) } };
    case "signature":
      return {
        text: hits.map((hit) => `${hit.namespace}.${hit.signature} // [${hit.spec.effect}] ${hit.line}`).join("\n"),
        structured: { tools: hits.map(({ name, line, signature, spec }) => ({ name, effect: spec.effect, signature, line })) },
      };
    case "full":
      return describeAll(hits);
  }
}

function namespacesFound(found: readonly FoundNamespace[]): FoundTools {
  return {
    text: found.map(({ namespace, toolCount, purpose }) => `${namespace} (${toolCount})${purpose === undefined ? "" : `: ${purpose}`}`).join("\n"),
    structured: { tools: [], namespaces: found.map((one) => ({ ...one })) },
  };
}

/** Answers `get_tool_details`. */
export function describeTools({ names }: ToolArguments<"get_tool_details">, finder: Finder): FoundTools {
  const { gate, principal, allows } = finder;
  const away = unavailable(finder);
  const views = gate.describe(names, { principal }).filter(({ name }) => allows?.(name) ?? true);
  const known = new Set(views.map((view) => view.name));
  const unknown = names.filter((name) => !known.has(name)).map((name) => ({ name, nearest: gate.nearest(name, { principal, ...(allows === undefined ? {} : { allows }) }) }));
  const answer = describeAll(views);
  if (unknown.length === 0) return answer;
  const missing = unknown.map(({ name, nearest }) => away.find(({ namespace }) => name.startsWith(`${namespace}.`))?.message ?? `There is no tool "${name}".${nearest.length === 0 ? " Use search_tools." : ` Nearest: ${nearest.join(", ")}`}`);
  return { text: [answer.text, ...missing].filter((part) => part !== "").join("\n\n"), structured: { ...answer.structured, unknown }, ...(views.length === 0 ? { isError: true } : {}) };
}

function describeAll(views: readonly ToolView[]): FoundTools {
  return { text: views.map(fullText).join("\n\n"), structured: { tools: views.map(fullRecord) } };
}

function fullText({ name, signature, spec }: ToolView): string {
  return [
    `${name} [${spec.effect}]${spec.deprecated === undefined ? "" : ` deprecated: ${spec.deprecated}`}`,
    spec.description,
    ...(spec.whenToUse === undefined ? [] : [`When to use: ${spec.whenToUse}`]),
    signature,
    ...(spec.secrets === undefined ? [] : [`may be given ${spec.secrets.map((name) => `"secret://${name}"`).join(", ")} as the whole of a text: it gets the value`]),
    ...spec.errors.map((error) => `fails with ${error.code}: ${error.description}`),
    ...spec.examples.map((example) => `example: ${JSON.stringify(example.input)}${example.description === undefined ? "" : ` // ${example.description}`}`),
  ].join("\n");
}

function fullRecord({ name, signature, spec }: ToolView): JsonObject {
  return {
    name,
    effect: spec.effect,
    description: spec.description,
    ...(spec.whenToUse === undefined ? {} : { whenToUse: spec.whenToUse }),
    ...(spec.deprecated === undefined ? {} : { deprecated: spec.deprecated }),
    signature,
    ...(spec.secrets === undefined ? {} : { secrets: spec.secrets.map((name) => `secret://${name}`) }),
    ...(spec.errors.length === 0 ? {} : { errors: spec.errors.map(({ code, description }) => ({ code, description })) }),
    ...(spec.examples.length === 0 ? {} : { examples: spec.examples.map(({ input }) => input) }),
  };
}
