import type { TaskTemplate } from "@callgate/contract";

/** A template as a model reads it, with what is known put in its places. */
export function templateText({ name, when, tools, inputs, skeleton, text }: TaskTemplate, values: Readonly<Record<string, string>> = {}): string {
  const open = Object.entries(inputs).filter(([input]) => values[input] === undefined);
  return [
    `Template ${name}: ${when}`,
    ...(text === "" ? [] : [filled(text, values)]),
    `Tools: ${tools.join(", ")}`,
    ...(open.length === 0 ? [] : [`Fill in:\n${open.map(([input, what]) => `- {{${input}}}: ${what}`).join("\n")}`]),
    `\`\`\`ts\n${filled(skeleton, values)}\n\`\`\``,
  ].join("\n\n");
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{([A-Za-z_]\w*)\}\}/g, (place, input: string) => values[input] ?? place).trimEnd();
}
