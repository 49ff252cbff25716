export { convertDocument } from "./convert/convert-document.ts";
export type { ConvertedDocument } from "./convert/convert-document.ts";
export type { ConvertedTool, OperationSpec } from "./convert/convert-operation.ts";
export { createOpenApiSource } from "./create-openapi-source.ts";
export type { OpenApiSourceOptions } from "./create-openapi-source.ts";
export { loadDocument } from "./document/load-document.ts";
export type { DocumentPart, LoadedDocument, ReadPart } from "./document/load-document.ts";
export type { HttpBody, HttpEncoding, HttpOperation, HttpParameter, HttpResponse, ParameterPlace, ParameterStyle, SecurityNeed, SecurityScheme } from "./http-operation.ts";
export type { OpenApiAuth } from "./service-finder.ts";
