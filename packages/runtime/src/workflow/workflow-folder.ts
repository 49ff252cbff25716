import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { Workflow, WorkflowManifest, WorkflowRecording } from "@callgate/contract";
import { digestOf } from "../lib/digest.ts";
import { parseManifest, parseWorkflowRecording } from "./parse-manifest.ts";

// A workflow is a folder: workflow.json, program.ts, recordings/<run>.json. All of it is text to be reviewed.

const extensions: Readonly<Record<string, string>> = { typescript: "ts", javascript: "js", python: "py" };

/** What stands in a folder of workflows, and what of it could not be read. */
export interface WorkflowFolder {
  readonly workflows: readonly Workflow[];
  readonly problems: readonly { readonly name: string; readonly message: string }[];
}

/** Reads every workflow below a folder; one that is wrong is said, and the others are there. A folder that is not there has none. */
export function readWorkflows(folder: string): WorkflowFolder {
  const names = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name).sort() : [];
  const workflows: Workflow[] = [];
  const problems: { name: string; message: string }[] = [];
  for (const name of names) {
    try {
      workflows.push(readWorkflow(join(folder, name), name));
    } catch (fault) {
      if (!CallgateError.is(fault)) throw fault;
      problems.push({ name, message: fault.message });
    }
  }
  return { workflows, problems };
}

/** Errors: `CallgateError` WORKFLOW_INVALID. */
function readWorkflow(folder: string, name: string): Workflow {
  const manifest = parseManifest(json(join(folder, "workflow.json")), join(name, "workflow.json"));
  if (manifest.name !== name) throw new CallgateError("WORKFLOW_INVALID", `The folder ${name} holds a workflow that calls itself ${manifest.name}; give both one name`);
  const program = text(join(folder, programFile(manifest)));
  const place = join(folder, "recordings");
  const files = existsSync(place) ? readdirSync(place).filter((file) => file.endsWith(".json")).sort() : [];
  return { manifest, program, recordings: files.map((file) => parseWorkflowRecording(json(join(place, file)), join(name, "recordings", file))), digest: workflowDigest(manifest, program) };
}

/** What a run's record refers to: manifest and program. */
function workflowDigest(manifest: WorkflowManifest, program: string): Workflow["digest"] {
  return digestOf({ manifest, program });
}

/** Writes a workflow over what is there of that name. Recordings are added. Errors: `CallgateError` WORKFLOW_INVALID; nothing is written then. */
export function writeWorkflow(folder: string, { manifest: given, program, recordings }: Omit<Workflow, "digest">): string {
  const manifest = parseManifest(given, "The manifest");
  const place = join(folder, manifest.name);
  mkdirSync(join(place, "recordings"), { recursive: true });
  writeFileSync(join(place, "workflow.json"), pretty(manifest));
  writeFileSync(join(place, programFile(manifest)), program.endsWith("\n") ? program : `${program}\n`);
  for (const recording of recordings) writeFileSync(join(place, "recordings", recordingFile(recording)), pretty(recording));
  return place;
}

function programFile({ language }: WorkflowManifest): string {
  return `program.${extensions[language] ?? "txt"}`;
}

function recordingFile({ recording }: WorkflowRecording): string {
  return `${recording.runId}.json`;
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function json(file: string): unknown {
  try {
    return JSON.parse(text(file));
  } catch (cause) {
    if (CallgateError.is(cause)) throw cause;
    throw new CallgateError("WORKFLOW_INVALID", `${file} is no JSON: ${cause instanceof Error ? cause.message : "unknown reason"}`, { cause });
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CallgateError("WORKFLOW_INVALID", `Cannot read ${file}: ${cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason"}`, { cause });
  }
}
