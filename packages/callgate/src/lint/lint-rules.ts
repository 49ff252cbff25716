import type { ToolSpec } from "@callgate/contract";
import { inputBranches, inputFields, saysItsArguments } from "./input-fields.ts";
import type { InputField } from "./input-fields.ts";
import type { LintedTool, LintMatch, LintRule } from "./lint-rule.ts";
import { nearDuplicates } from "./near-duplicate.ts";

/** More are a form, not an argument list: models leave out what they do not look at. */
const maxParameters = 30;
/** A tool that costs more than this in every prompt that shows it is worth a look. */
const maxTokens = 1_000;
const minDescriptionChars = 10;
/** With fewer, a mode is an option and not a set of operations. */
const minOperations = 3;
const minOptionalFields = 4;

/** Names that choose what a tool does, rather than what it does it with. */
const choosesOperation = /^(?:action|operation|op|command|cmd|method|verb)$/i;
/** The same where the values are operations: a `type` may be one of what a thing is. */
const mayChooseOperation = /^(?:mode|type|kind|task|request_?type)$/i;
const operation = /^(?:create|get|list|read|update|delete|insert|replace|add|remove|set|search|find|send|start|stop|move|copy|rename|run|cancel|open|close)(?:$|[_ -]|[A-Z])/;
/** In these the argument narrows what is read. */
const readsByName = /^(?:list|get|search|find|read|query)(?:$|[_-]|[A-Z])/;

/** Every rule, in the order in which findings are told. */
export const lintRules: readonly LintRule[] = [
  {
    id: "universal-tool",
    level: "warning",
    finds: "one tool for several operations: an argument like `action` chooses, and most others belong to one operation each",
    advice: "Make a tool of each operation. Its effect, its arguments and its errors can then be said, and a policy can tell a read from a deletion",
    check: each(({ view }) => universal(view.spec)),
  },
  {
    id: "many-parameters",
    level: "warning",
    finds: `more than ${maxParameters} parameters`,
    advice: "Split the tool, or gather what is rarely given in one optional object",
    check: each(({ view }) => {
      const count = inputFields(view.spec.input).length;
      return count > maxParameters ? `${count} parameters` : undefined;
    }),
  },
  {
    id: "near-duplicate",
    level: "warning",
    finds: "another tool that takes the same arguments and is described in nearly the same words",
    advice: "Say in each description when to use which, or leave one out (`deny`)",
    check: nearDuplicates,
  },
  {
    id: "token-cost",
    level: "warning",
    finds: `a definition of more than ${maxTokens.toLocaleString("en")} tokens`,
    advice: "Shorten the description; what every argument means belongs to the argument, and examples to `examples`",
    check: each(({ tokens }) => (tokens > maxTokens ? `${tokens} tokens` : undefined)),
  },
  {
    id: "no-description",
    level: "warning",
    finds: "no description, or one that says nothing",
    advice: "Say what it does and when to use it: it is all that a search finds it by",
    check: each(({ view: { spec } }) => {
      const text = spec.description.trim();
      if (text === "") return "no description";
      return text.length < minDescriptionChars || text.toLowerCase().replaceAll(/[^a-z0-9]/g, "") === spec.name.toLowerCase().replaceAll(/[^a-z0-9]/g, "") ? `says nothing: "${text}"` : undefined;
    }),
  },
  {
    id: "unknown-arguments",
    level: "warning",
    finds: "an input schema that does not say which arguments there are",
    advice: "List the properties, or say `additionalProperties: false` where there are none: a program cannot be checked against what is not said",
    check: each(({ view }) => (saysItsArguments(view.spec.input) ? undefined : "its arguments are not known")),
  },
  {
    id: "no-output",
    level: "note",
    finds: "no output schema",
    advice: "Declare what it answers: programs are then checked against it before they run",
    check: each(({ view }) => (view.spec.output === undefined ? "no output schema" : undefined)),
  },
  {
    id: "no-examples",
    level: "note",
    finds: "no example",
    advice: "Give one call with real values",
    check: each(({ view }) => (view.spec.examples.length === 0 ? "no example" : undefined)),
  },
  {
    id: "no-errors",
    level: "note",
    finds: "no announced error",
    advice: "Name the errors a program can act on, such as a record that is not there",
    check: each(({ view }) => (view.spec.errors.length === 0 ? "no announced error" : undefined)),
  },
];

/** A rule that looks at one tool alone. */
function each(check: (tool: LintedTool) => string | undefined): (tools: readonly LintedTool[]) => readonly LintMatch[] {
  return (tools) =>
    tools.flatMap((tool) => {
      const message = check(tool);
      return message === undefined ? [] : [{ tool, message }];
    });
}

function universal({ name: toolName, input }: ToolSpec): string | undefined {
  const [fields, branches] = [inputFields(input), inputBranches(input)];
  const chooser = readsByName.test(toolName) ? undefined : fields.find(isChooser);
  const optional = fields.filter(({ name, isRequired }) => name !== chooser?.name && !isRequired);
  if (chooser !== undefined && optional.length >= minOptionalFields && optional.length * 2 > fields.length) {
    return `"${chooser.name}" chooses one of ${chooser.values.length} operations, and ${optional.length} of ${fields.length} parameters are optional`;
  }
  if (branches.length < minOperations) return undefined;
  const shared = branches.map((branch) => branch.map(({ name }) => name)).reduce((common, names) => common.filter((name) => names.includes(name)));
  const own = branches.filter((branch) => branch.some(({ name }) => !shared.includes(name)));
  return own.length >= minOperations ? `takes one of ${branches.length} sets of parameters, with ${shared.length} in common` : undefined;
}

function isChooser({ name, values }: InputField): boolean {
  if (values.length < minOperations) return false;
  return choosesOperation.test(name) || (mayChooseOperation.test(name) && values.filter((value) => operation.test(value)).length >= 2);
}

/** Tokens that all tools together cost where each is shown in full. */
export function tokensOf(tools: readonly LintedTool[]): number {
  return tools.reduce((sum, { tokens }) => sum + tokens, 0);
}
