import type { Gate, Principal, SourcePassThrough } from "@callgate/contract";
import { templateText } from "@callgate/runtime/surface";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** The task templates that the asker may use, as prompts: the inputs are their arguments. */
export function templatePrompts(gate: Gate, { principal }: { readonly principal: Principal }): SourcePassThrough {
  return {
    listResources: () => Promise.resolve([]),
    listResourceTemplates: () => Promise.resolve([]),
    readResource: () => Promise.resolve([]),
    listPrompts: () => Promise.resolve(gate.templates({ principal }).map(({ name, when, inputs }) => ({ name, description: when, arguments: Object.entries(inputs).map(([input, description]) => ({ name: input, description, required: true })) }))),
    getPrompt(name, values) {
      const template = gate.templates({ principal }).find((one) => one.name === name);
      if (template === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name}"`);
      const missing = Object.keys(template.inputs).filter((input) => values[input] === undefined);
      if (missing.length > 0) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The prompt "${name}" needs ${missing.join(", ")}`);
      return Promise.resolve([{ role: "user" as const, content: { type: "text" as const, text: templateText(template, values) } }]);
    },
  };
}
