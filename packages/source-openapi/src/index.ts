// Services with an OpenAPI document. What is here so far calls operations; the door of that is ./request.

export type { HttpBody, HttpEncoding, HttpOperation, HttpParameter, HttpResponse, ParameterPlace, ParameterStyle, SecurityNeed, SecurityScheme } from "./http-operation.ts";
