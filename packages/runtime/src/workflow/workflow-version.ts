import { isDeepStrictEqual } from "node:util";
import { CallgateError } from "@callgate/contract";
import type { WorkflowManifest } from "@callgate/contract";
import { gt, inc, lt } from "semver";
import { isPlainObject } from "../lib/is-plain-object.ts";
import { strongest } from "./make-workflow.ts";

type Change = "major" | "minor" | "patch";

/** What a new version of a workflow is to those who call it. */
function changeBetween(before: WorkflowManifest, after: WorkflowManifest): Change {
  const changes: readonly Change[] = [
    isDeepStrictEqual(before.input, after.input) ? "patch" : inputChange(propertiesOf(before.input), propertiesOf(after.input)),
    isDeepStrictEqual(before.output, after.output) ? "patch" : outputChange(propertiesOf(before.output), propertiesOf(after.output)),
  ];
  if (changes.includes("major") || strongest([before.effect, after.effect]) !== before.effect) return "major";
  return changes.includes("minor") ? "minor" : "patch";
}

/**
 * The version of a workflow that takes the place of another: the one that is asked for, or the next that fits the change.
 *
 * Errors: `CallgateError` WORKFLOW_INVALID for one that is not above the last, or below what the change needs.
 */
export function nextVersion(before: WorkflowManifest, after: WorkflowManifest, asked: string | undefined): string {
  const change = changeBetween(before, after);
  const least = inc(before.version, change) ?? before.version;
  if (asked === undefined) return least;
  if (!gt(asked, before.version)) throw new CallgateError("WORKFLOW_INVALID", `Version ${asked} of ${after.name} is not above ${before.version}; the next is ${least}`);
  if (lt(asked, least)) throw new CallgateError("WORKFLOW_INVALID", `What changes in ${after.name} is a ${change} change for those who call it (its inputs, output or effect): the version is ${least} or above, not ${asked}`);
  return asked;
}

interface Properties {
  readonly all: Readonly<Record<string, unknown>>;
  readonly required: readonly unknown[];
}

function propertiesOf(schema: WorkflowManifest["input"]): Properties | undefined {
  if (!isPlainObject(schema) || !isPlainObject(schema["properties"])) return undefined;
  return { all: schema["properties"], required: Array.isArray(schema["required"]) ? schema["required"] : [] };
}

/** Callers give inputs: one that is gone, is another or has to be given breaks them. */
function inputChange(before: Properties | undefined, after: Properties | undefined): Change {
  if (before === undefined || after === undefined) return "major";
  const lost = Object.keys(before.all).some((name) => !Object.hasOwn(after.all, name) || !isDeepStrictEqual(before.all[name], after.all[name]));
  const demanded = after.required.some((name) => !before.required.includes(name));
  if (lost || demanded) return "major";
  return Object.keys(after.all).length > Object.keys(before.all).length ? "minor" : "patch";
}

/** Callers read the output: a part that is gone, is another or may be missing breaks them. */
function outputChange(before: Properties | undefined, after: Properties | undefined): Change {
  if (before === undefined || after === undefined) return "major";
  const lost = Object.keys(before.all).some((name) => !Object.hasOwn(after.all, name) || !isDeepStrictEqual(before.all[name], after.all[name]));
  if (lost || before.required.some((name) => !after.required.includes(name))) return "major";
  return Object.keys(after.all).length > Object.keys(before.all).length ? "minor" : "patch";
}
