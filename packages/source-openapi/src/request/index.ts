// Door: calling one operation, for whoever has it without a document. Loads nothing that reads documents.

export type { HttpBody, HttpEncoding, HttpOperation, HttpParameter, HttpResponse, ParameterPlace, ParameterStyle } from "../http-operation.ts";
export { detectPaging } from "../paging/detect-paging.ts";
export type { PagingClues } from "../paging/detect-paging.ts";
export type { PagingRule } from "../paging/paging-rule.ts";
export { callOperation, operationRetry } from "./call-operation.ts";
export type { OperationCall, OperationService } from "./call-operation.ts";
export { isForPrograms } from "./request-headers.ts";
