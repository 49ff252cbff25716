import { CallgateError } from "@callgate/contract";
import type { WorkflowManifest, WorkflowRecording } from "@callgate/contract";
import { valid } from "semver";
import { z } from "zod";

const schema = z.union([z.boolean(), z.record(z.string(), z.json())]);
const effect = z.enum(["read", "write", "destructive"]);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, "is no digest (sha256:...)");
const nameText = "is lower case letters, digits and _, at most 63, and begins with a letter";
const workflowName = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, nameText);
const manifest = z.strictObject({
  format: z.literal(1),
  name: workflowName,
  version: z.string().refine((version) => valid(version) === version, "is no semantic version, such as 1.0.0"),
  description: z.string().min(1),
  language: z.enum(["typescript", "javascript", "python"]),
  input: schema,
  output: schema,
  effect,
  tools: z.record(z.string().regex(/^\w+\.\w+$/), z.strictObject({ effect, interfaceDigest: digest, definitionDigest: digest, args: schema })),
  deprecated: z.string().optional(),
  from: z.strictObject({ runId: z.string() }).optional(),
});
const recording = z.strictObject({ inputs: z.record(z.string(), z.json()), recording: z.looseObject({ format: z.literal(1), runId: z.string() }) });

/** What is wrong with a name, with one that would do; undefined: nothing. It is the name of a folder and of a tool. */
export function nameProblem(name: string): string | undefined {
  if (workflowName.safeParse(name).success) return undefined;
  const like = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+/, "").replace(/_+$/, "").slice(0, 63);
  return `the name of a workflow ${nameText}${like === "" ? "" : `, such as ${like}`}`;
}

/** Errors: `CallgateError` WORKFLOW_INVALID naming file and place. */
export function parseManifest(value: unknown, file: string): WorkflowManifest {
  return parsed(manifest, value, file) as WorkflowManifest;
}

export function parseWorkflowRecording(value: unknown, file: string): WorkflowRecording {
  return parsed(recording, value, file) as unknown as WorkflowRecording;
}

function parsed<Output>(shape: z.ZodType<Output>, value: unknown, file: string): Output {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => `${path.map(String).join(".") || "the file"} ${message}`);
  throw new CallgateError("WORKFLOW_INVALID", `${file} is no workflow of format 1: ${lines.join("; ")}`);
}
