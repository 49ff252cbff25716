import { defineProperty } from "./intrinsics.ts";

export interface ToolErrorFields {
  readonly code: string;
  readonly message: string;
  readonly tool: string;
  readonly retryable?: boolean;
  readonly details?: unknown;
}

/** What a program catches when a call did not end ok. */
export class ToolError extends Error {
  readonly code: string;
  readonly tool: string;
  readonly retryable: boolean;
  readonly details: unknown;

  constructor(fields: ToolErrorFields) {
    super(fields.message);
    this.code = fields.code;
    this.tool = fields.tool;
    this.retryable = fields.retryable === true;
    this.details = fields.details;
  }
}
defineProperty(ToolError.prototype, "name", { value: "ToolError", writable: true, configurable: true, enumerable: false });
