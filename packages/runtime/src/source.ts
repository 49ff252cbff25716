// Door: tools made of functions.

export { defineOlderVersion } from "./source/define-older-version.ts";
export type { OlderVersionDefinition } from "./source/define-older-version.ts";
export { defaultTimeoutMs, defineTool, isTool } from "./source/define-tool.ts";
export type { ToolDefinition } from "./source/define-tool.ts";
export { functionSource } from "./source/function-source.ts";
export type { FunctionSourceOptions } from "./source/function-source.ts";
export { pinSource } from "./source/pin-source.ts";
export type { PinSourceOptions } from "./source/pin-source.ts";
export { approvePins } from "./source/pinned-tools.ts";
export { shapeSource } from "./source/shape-source.ts";
export { normalizeSchema } from "./source/schema-input.ts";
export type { NormalizedSchema, Parsed, SchemaInput, StandardSchema, Unparsed } from "./source/schema-input.ts";
