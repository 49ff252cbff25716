import { join } from "node:path";
import { shapeSource } from "@callgate/runtime/source";
import { createGraphqlSource } from "@callgate/source-graphql";
import type { GraphqlSourceOptions } from "@callgate/source-graphql";
import type { GraphqlConfig } from "./config/service-schema.ts";
import { sourceOptionsOf } from "./config/source-options-schema.ts";
import { failedSource } from "./failed-source.ts";
import type { ServiceHost, ServiceSources } from "./openapi-sources.ts";
import { readReferences } from "./secret-reader.ts";

const hourMs = 3_600_000;

/** Makes a source of every GraphQL service that is not disabled. Nothing is asked before it is needed. */
export function graphqlSources(services: Readonly<Record<string, GraphqlConfig>>, { folder, stateFolder, env, clock }: ServiceHost): ServiceSources {
  const secrets: string[] = [];
  const sources = Object.entries(services).flatMap(([key, service]) => {
    if (service.disabled === true) return [];
    const { namespace = key, endpoint, schema, auth, depth, refreshHours, timeoutMs } = service;
    try {
      const reader = readReferences(auth, `graphql.${key}.auth`, { folder, env });
      secrets.push(...reader.secrets);
      const source = createGraphqlSource({
        namespace,
        endpoint,
        folder,
        cacheFolder: join(stateFolder, "graphql"),
        readSecret: (reference) => reader.read(reference),
        clock,
        ...(schema === undefined ? {} : { schema }),
        // The schema has judged it; its optional keys may be undefined.
        ...(auth === undefined ? {} : { auth: auth as NonNullable<GraphqlSourceOptions["auth"]> }),
        ...(depth === undefined ? {} : { depth }),
        ...(refreshHours === undefined ? {} : { refreshMs: refreshHours * hourMs }),
        ...(timeoutMs === undefined ? {} : { callTimeoutMs: timeoutMs }),
      });
      return [{ source: shapeSource(source, sourceOptionsOf(service)) }];
    } catch (fault) {
      return [{ source: failedSource({ namespace, kind: "graphql", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings lead nowhere" }) }];
    }
  });
  return { sources, secrets };
}
