import { shapeSource } from "@callgate/runtime/source";
import type { SearchApiConfig } from "../config/search-api-schema.ts";
import { sourceOptionsOf } from "../config/source-options-schema.ts";
import { failedSource } from "../failed-source.ts";
import type { ServiceHost, ServiceSources } from "../openapi-sources.ts";
import { readReferences } from "../secret-reader.ts";
import { createSearchApiSource } from "./search-api-source.ts";

/** Makes a source of every search service that is not disabled. Nothing is asked before it is called. */
export function searchApiSources(services: Readonly<Record<string, SearchApiConfig>>, { folder, env, clock }: ServiceHost): ServiceSources {
  const secrets: string[] = [];
  const sources = Object.entries(services).flatMap(([key, service]) => {
    if (service.disabled === true) return [];
    const { namespace = key, provider, endpoint, timeoutMs } = service;
    try {
      const reader = readReferences({ key: service.key }, `searchApis.${key}`, { folder, env });
      secrets.push(...reader.secrets);
      const source = createSearchApiSource({ namespace, provider, key: service.key, readSecret: (reference) => reader.read(reference), clock, ...(endpoint === undefined ? {} : { endpoint }), ...(timeoutMs === undefined ? {} : { callTimeoutMs: timeoutMs }) });
      return [{ source: shapeSource(source, sourceOptionsOf(service)) }];
    } catch (fault) {
      return [{ source: failedSource({ namespace, kind: "search", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings lead nowhere" }) }];
    }
  });
  return { sources, secrets };
}
