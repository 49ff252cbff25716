// Door: from a model's text to a program.

export { createProgramCheck } from "./check/program-check.ts";
export type { ProgramCheck, ProgramCheckOptions, ProgramCheckRequest } from "./check/program-check.ts";
export { defaultPreScanBounds } from "./check/pre-scan.ts";
export type { PreScanBounds } from "./check/pre-scan.ts";
export { scanActions } from "./check/scan/scan-rules.ts";
export { positionInModelText } from "./check/report-at.ts";
