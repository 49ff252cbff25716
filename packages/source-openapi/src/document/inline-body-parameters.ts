import { entriesOf, isRecord, itemsOf, own, resolved } from "./local-reference.ts";
import type { DocumentObject } from "./local-reference.ts";

/**
 * A Swagger 2 document in which every operation has its body and form parameters itself. They may also stand at the path, or
 * be references to shared ones; what brings the document to OpenAPI 3 makes a request body only of those that an operation
 * writes out, and would lose the others.
 */
export function inlineBodyParameters(document: DocumentObject): DocumentObject {
  const paths = entriesOf(own(document, "paths")).map(([path, written]) => [path, isRecord(written) ? inlinePath(document, written) : written] as const);
  return { ...document, paths: Object.fromEntries(paths) };
}

function inlinePath(document: DocumentObject, pathItem: DocumentObject): DocumentObject {
  const shared = inlined(document, own(pathItem, "parameters"));
  const bodies = shared.filter(isBody);
  const entries = Object.entries(pathItem).map(([key, value]) => {
    if (key === "parameters") return [key, shared.filter((parameter) => !isBody(parameter))] as const;
    if (!isRecord(value) || key.startsWith("x-")) return [key, value] as const;
    const parameters = inlined(document, own(value, "parameters"));
    const inherited = parameters.some(isBody) ? [] : bodies;
    return [key, parameters.length + inherited.length === 0 ? value : { ...value, parameters: [...parameters, ...inherited] }] as const;
  });
  return Object.fromEntries(entries);
}

function inlined(document: DocumentObject, parameters: unknown): readonly unknown[] {
  return itemsOf(parameters).map((parameter) => {
    const target = resolved(document, parameter);
    // Each a copy: it is changed where it stands.
    return isBody(target) && target !== parameter ? structuredClone(target) : parameter;
  });
}

function isBody(parameter: unknown): boolean {
  const place = own(parameter, "in");
  return place === "body" || place === "formData";
}
