import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonSchema, JsonValue, Recording, Workflow, WorkflowManifest, WorkflowTool } from "@callgate/contract";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { literalValues } from "./infer-inputs.ts";
import { accepts, widenSchema, withoutConstants } from "./widen-schema.ts";

/** What a newer recording of a workflow gives to its manifest. */
export interface SavedAgain {
  readonly manifest: WorkflowManifest;
  readonly program: string;
  readonly inputs: JsonObject;
  readonly recording: Recording;
  /** What each tool was given in it. */
  readonly givenTo: (tool: string) => readonly JsonValue[];
  /** What a tool takes as it declares it. */
  readonly declaredBy: (tool: string) => JsonSchema | undefined;
}

/**
 * The manifest of a workflow that is saved again. What stands in it stays, be it a person's or an older recording's, and is
 * widened where the new recording needs it; what the program does not have any more goes.
 */
export function saveAgain(before: Workflow, { manifest, program, inputs, recording, givenTo, declaredBy }: SavedAgain): WorkflowManifest {
  const old = before.manifest;
  const literals = new Set(literalValues({ text: program, language: manifest.language }));
  const lost = new Set(literalValues({ text: before.program, language: old.language }).filter((value) => !literals.has(value)));
  const tools = Object.entries(manifest.tools).map(([name, made]): [string, WorkflowTool] => {
    const known = old.tools[name];
    // What it may be given was not seen by then, so nothing was said of it.
    if (known === undefined || isDeepStrictEqual(known.args, declaredBy(name))) return [name, made];
    return [name, { ...made, args: withoutConstants(widenSchema(known.args, givenTo(name), { literals }), lost) }];
  });
  return {
    ...manifest,
    input: inputOf(old.input, manifest.input, inputs),
    output: [...before.recordings.map((one) => one.recording), recording].reduce(withOutput, old.output),
    tools: Object.fromEntries(tools),
    ...(old.deprecated === undefined ? {} : { deprecated: old.deprecated }),
  };
}

/** Inputs that it had are declared as they were; what a person made of the whole stays. */
function inputOf(old: JsonSchema, made: JsonSchema, inputs: JsonObject): JsonSchema {
  if (!isPlainObject(old) || !isPlainObject(made)) return made;
  const [had, has] = [propertiesOf(old as JsonObject), propertiesOf(made as JsonObject)];
  const properties = Object.fromEntries(Object.entries(has).map(([name, schema]) => [name, Object.hasOwn(had, name) ? (widenSchema(had[name] as JsonSchema, [inputs[name] ?? null]) as JsonValue) : schema]));
  const needed: readonly unknown[] = Array.isArray(old["required"]) ? old["required"] : [];
  return { ...(old as JsonObject), properties, required: Object.keys(has).filter((name) => !Object.hasOwn(had, name) || needed.includes(name)) };
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isPlainObject(properties) ? (properties as JsonObject) : {};
}

function withOutput(output: JsonSchema, { end: { value } }: Recording): JsonSchema {
  if (value === undefined) return output;
  return isViewed(value) ? (accepts(output, value) ? output : {}) : widenSchema(output, [value], { isOpen: true });
}

/** Whether it is the view of something that JSON has no word for, which is no value. */
export function isViewed(value: JsonValue): boolean {
  return /"\$(?:undefined|number|bigint|date|map|set|array|bytes|error)":/.test(JSON.stringify(value));
}

/** What one manifest allows or asks for that the one before it did not, a sentence each. */
export function wideningsBetween(before: WorkflowManifest, after: WorkflowManifest): readonly string[] {
  const print = (schema: JsonSchema): string => JSON.stringify(schema);
  const isOther = (one: JsonSchema, other: JsonSchema): boolean => !isDeepStrictEqual(one, other);
  return [
    ...(isOther(before.input, after.input) ? [`its input was ${print(before.input)} and is ${print(after.input)}`] : []),
    ...(isOther(before.output, after.output) ? [`its output was ${print(before.output)} and is ${print(after.output)}`] : []),
    ...(before.effect === after.effect ? [] : [`its effect was ${before.effect} and is ${after.effect}`]),
    ...Object.entries(after.tools).flatMap(([name, { args }]) => {
      const known = before.tools[name];
      if (known === undefined) return [`it may call ${name} now, with ${print(args)}`];
      return isOther(known.args, args) ? [`it might call ${name} with ${print(known.args)} and may with ${print(args)}`] : [];
    }),
    ...Object.keys(before.tools).filter((name) => !Object.hasOwn(after.tools, name)).map((name) => `it may not call ${name} any more`),
  ];
}
