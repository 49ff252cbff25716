// Door: the few tools through which a model reaches all others of a gate, and what they say.

export { readCallArguments } from "./surface/call-arguments.ts";
export { callProgram } from "./surface/call-program.ts";
export { callText, shapedText } from "./surface/call-text.ts";
export { describeTools, findTools } from "./surface/find-tools.ts";
export type { Finder, FoundTools } from "./surface/find-tools.ts";
export { templateText } from "./surface/template-text.ts";
export { toModelText } from "./surface/model-text.ts";
export { surfaceText } from "./surface/surface-text.ts";
export type { SurfaceText } from "./surface/surface-text.ts";
export { inputSchemaOf, isGateTool, toolInputs } from "./surface/tool-inputs.ts";
export type { GateToolName, ToolArguments } from "./surface/tool-inputs.ts";
