import { join, resolve } from "node:path";
import { CallgateError } from "@callgate/contract";
import type { GateSource } from "@callgate/runtime";
import { shapeSource } from "@callgate/runtime/source";
import type * as SourceDocuments from "@callgate/source-documents";
import type { DocumentsConfig } from "./config/documents-schema.ts";
import { sourceOptionsOf } from "./config/source-options-schema.ts";
import { failedSource } from "./failed-source.ts";

export interface DocumentsHost {
  /** Where relative paths start. */
  readonly folder: string;
  /** Indexes are kept in it. */
  readonly stateFolder: string;
}

/**
 * Makes a source of every folder that is not disabled; none is read before it is needed. One whose settings cannot be is a
 * source that is `down`. Errors: CONFIG_INVALID where the package is not installed.
 */
export async function documentsSources(folders: Readonly<Record<string, DocumentsConfig>>, { folder, stateFolder }: DocumentsHost): Promise<readonly GateSource[]> {
  const wanted = Object.entries(folders).filter(([, { disabled }]) => disabled !== true);
  if (wanted.length === 0) return [];
  const { createDocumentsSource } = await loadPackage();
  return wanted.map(([key, config]) => {
    const { namespace = key, include, exclude, maxFiles, maxFileBytes, maxTextChars, readTimeoutMs, readMemoryMiB, waitMs } = config;
    const own = { include, exclude, maxFiles, maxFileBytes, maxTextChars, readTimeoutMs, readMemoryMiB, waitMs };
    // The schema has judged them; keys that are not there are no keys.
    const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) as Omit<SourceDocuments.DocumentsSourceOptions, "namespace" | "folder">;
    try {
      const source = createDocumentsSource({ ...given, namespace, folder: resolve(folder, config.folder), cacheFolder: join(stateFolder, "documents") });
      return { source: shapeSource(source, sourceOptionsOf(config)) };
    } catch (fault) {
      return { source: failedSource({ namespace, kind: "documents", reason: fault instanceof Error ? fault.message : String(fault), brief: "its settings cannot be" }) };
    }
  });
}

/** Not everybody needs it, so it is installed by those who do. */
async function loadPackage(): Promise<typeof SourceDocuments> {
  try {
    return await import("@callgate/source-documents");
  } catch (error) {
    throw new CallgateError("CONFIG_INVALID", "documents needs the package @callgate/source-documents: npm i @callgate/source-documents", { cause: error });
  }
}
