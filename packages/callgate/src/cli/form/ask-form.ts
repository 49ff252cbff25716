import * as clack from "@clack/prompts";
import type { JsonSchema, JsonValue } from "@callgate/contract";
import { visible } from "../terminal.ts";
import { formFields } from "./form-fields.ts";
import type { FormField } from "./form-fields.ts";

/** Where a form is shown, and what ends it. */
export interface FormPlace {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/** Asks for each field and checks it at once. Undefined: the person gave up. */
export async function askForm(schema: JsonSchema, place: FormPlace): Promise<Readonly<Record<string, JsonValue>> | undefined> {
  const fields = formFields(schema);
  if (fields === undefined) return await askWhole(place);
  const values: Record<string, JsonValue> = {};
  const optional = fields.filter(({ isRequired }) => !isRequired);
  const asked = fields.filter(({ isRequired }) => isRequired);
  for (const field of asked) {
    const value = await askField(field, place);
    if (typeof value === "symbol") return undefined;
    values[field.name] = value;
  }
  if (optional.length === 0) return values;
  const options = optional.map(({ name, description }) => ({ value: name, label: visible(name), hint: cutWords(description) }));
  const wanted = await clack.multiselect({ ...place, message: "Which of these as well? Space chooses, Enter goes on", options, required: false });
  if (clack.isCancel(wanted)) return undefined;
  for (const field of optional.filter(({ name }) => wanted.includes(name))) {
    const value = await askField(field, place);
    if (typeof value === "symbol") return undefined;
    values[field.name] = value;
  }
  return values;
}

async function askWhole(place: FormPlace): Promise<Readonly<Record<string, JsonValue>> | undefined> {
  const typed = await clack.text({ ...place, message: "The arguments, as one JSON object", initialValue: "{}", validate: (text) => (objectOf(text ?? "") === undefined ? "must be one JSON object" : undefined) });
  return clack.isCancel(typed) ? undefined : objectOf(typed);
}

async function askField(field: FormField, place: FormPlace): Promise<JsonValue | symbol> {
  const { input, description, byDefault } = field;
  const message = `${visible(field.name)}${description === "" ? "" : `  ${cutWords(description)}`}`;
  switch (input.kind) {
    case "yes_no":
      return await clack.confirm({ ...place, message, ...(typeof byDefault === "boolean" ? { initialValue: byDefault } : {}) });
    case "choice":
      // By its place: a value may be anything.
      return choiceAt(await clack.select({ ...place, message, options: input.values.map((value, index) => ({ value: index, label: visible(typeof value === "string" ? value : JSON.stringify(value)) })) }), input.values);
    case "choices":
      return await clack.multiselect({ ...place, message, options: input.values.map((value) => ({ value, label: visible(value) })), required: false });
    case "text":
    case "number":
    case "texts":
    case "json":
      return await askTyped(field, message, place);
  }
}

async function askTyped(field: FormField, message: string, place: FormPlace): Promise<JsonValue | symbol> {
  const { input, byDefault } = field;
  const kinds = { text: "", number: " (a number)", texts: " (with commas between)", json: " (as JSON)", yes_no: "", choice: "", choices: "" };
  const initial = byDefault === undefined ? undefined : input.kind === "json" || typeof byDefault !== "string" ? JSON.stringify(byDefault) : byDefault;
  const typed = await clack.text({
    ...place,
    message: `${message}${kinds[input.kind]}`,
    ...(initial === undefined ? {} : { initialValue: visible(initial) }),
    validate: (text) => {
      const read = field.read(text ?? "");
      return read.kind === "invalid" ? visible(read.problem) : undefined;
    },
  });
  if (clack.isCancel(typed)) return typed;
  const read = field.read(typed);
  return read.kind === "value" ? read.value : typed;
}

function choiceAt(index: number | symbol, values: readonly JsonValue[]): JsonValue | symbol {
  return typeof index === "symbol" ? index : (values[index] ?? null);
}

function objectOf(text: string): Readonly<Record<string, JsonValue>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, JsonValue>>) : undefined;
  } catch {
    return undefined;
  }
}

const maxHintChars = 100;

/** The words of a stranger, on one line. */
function cutWords(text: string): string {
  const line = visible(text.replace(/\s+/g, " ").trim());
  return line.length <= maxHintChars ? line : `${line.slice(0, maxHintChars - 1)}…`;
}
