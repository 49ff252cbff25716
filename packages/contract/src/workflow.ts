import type { Digest, JsonObject, JsonSchema, JsonValue } from "./json.ts";
import type { ProgramLanguage } from "./sandbox-driver.ts";
import type { Recording } from "./time-travel.ts";
import type { Effect } from "./tool-spec.ts";

/** A tool that a workflow may call, as it was when the workflow was saved. */
export interface WorkflowTool {
  readonly effect: Effect;
  readonly interfaceDigest: Digest;
  readonly definitionDigest: Digest;
  /** What its arguments may be; see `Capabilities`. */
  readonly args: JsonSchema;
}

/** What stands in `workflow.json`: everything of a workflow but its program and recordings. */
export interface WorkflowManifest {
  readonly format: 1;
  /** Identifier: the tool is `workflows.<name>`. */
  readonly name: string;
  /** Semantic version of its interface and program. */
  readonly version: string;
  readonly description: string;
  readonly language: ProgramLanguage;
  /** Of an object: the program reads it as `inputs`. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** The strongest of its tools. */
  readonly effect: Effect;
  readonly tools: Readonly<Record<string, WorkflowTool>>;
  /** Why not to use it, and what to use instead. */
  readonly deprecated?: string;
  /** Where it came from. */
  readonly from?: { readonly runId: string };
}

/** A run of the workflow that holds for a test: its inputs, and its recorded answers. */
export interface WorkflowRecording {
  readonly inputs: JsonObject;
  readonly recording: Recording;
}

export interface Workflow {
  readonly manifest: WorkflowManifest;
  readonly program: string;
  readonly recordings: readonly WorkflowRecording[];
  /** Of manifest and program: what a run's record refers to. */
  readonly digest: Digest;
}

/** Something about a workflow that a person has to know. `broken`: it is not run. */
export interface WorkflowFinding {
  readonly workflow: string;
  readonly severity: "broken" | "changed";
  /** The tool it is about, where it is about one. */
  readonly tool?: string;
  readonly message: string;
}

/** How a contract test came out. */
export interface WorkflowTest {
  readonly workflow: string;
  readonly runId: string;
  readonly passed: boolean;
  /** What differs. */
  readonly failures: readonly string[];
  readonly value?: JsonValue;
}
