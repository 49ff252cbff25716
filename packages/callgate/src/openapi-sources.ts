import { join } from "node:path";
import type { Clock, Source } from "@callgate/contract";
import type { GateSource } from "@callgate/runtime";
import { shapeSource } from "@callgate/runtime/source";
import { createOpenApiSource } from "@callgate/source-openapi";
import type { OpenApiAuth } from "@callgate/source-openapi";
import type { OpenApiConfig } from "./config/service-schema.ts";
import { sourceOptionsOf } from "./config/source-options-schema.ts";
import { failedSource } from "./failed-source.ts";
import { readReferences } from "./secret-reader.ts";

/** Sources of one block, and the secrets among their settings. */
export interface ServiceSources {
  readonly sources: readonly GateSource[];
  readonly secrets: readonly string[];
}

export interface ServiceHost {
  /** Where relative paths start. */
  readonly folder: string;
  readonly stateFolder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
}

const hourMs = 3_600_000;

/** Makes a source of every service that is not disabled. Nothing is read before it is needed. */
export function openapiSources(services: Readonly<Record<string, OpenApiConfig>>, host: ServiceHost): ServiceSources {
  const secrets: string[] = [];
  const sources = Object.entries(services).flatMap(([key, service]) => {
    if (service.disabled === true) return [];
    const namespace = service.namespace ?? key;
    try {
      const reader = readReferences(service.auth, `openapi.${key}.auth`, host);
      secrets.push(...reader.secrets);
      return [{ source: shapeSource(sourceOf(namespace, service, { ...host, read: (reference) => reader.read(reference) }), sourceOptionsOf(service)) }];
    } catch (fault) {
      return [{ source: failedSource({ namespace, kind: "openapi", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings lead nowhere" }) }];
    }
  });
  return { sources, secrets };
}

function sourceOf(namespace: string, service: OpenApiConfig, { folder, stateFolder, clock, read }: ServiceHost & { readonly read: (reference: string) => string }): Source {
  const { document, server, auth, refreshHours, timeoutMs } = service;
  return createOpenApiSource({
    namespace,
    document,
    folder,
    cacheFolder: join(stateFolder, "openapi"),
    readSecret: read,
    clock,
    ...(server === undefined ? {} : { server }),
    // The schema has judged it; its optional keys may be undefined.
    ...(auth === undefined ? {} : { auth: auth as OpenApiAuth }),
    ...(refreshHours === undefined ? {} : { refreshMs: refreshHours * hourMs }),
    ...(timeoutMs === undefined ? {} : { callTimeoutMs: timeoutMs }),
  });
}
