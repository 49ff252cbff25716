import { createHash } from "node:crypto";
import type { SourceProblem } from "@callgate/contract";
import { bundleWithDiagnostics } from "@scalar/json-magic/bundle";
import { upgrade } from "@scalar/openapi-upgrader";
import { inlineBodyParameters } from "./inline-body-parameters.ts";
import { isRecord, own } from "./local-reference.ts";
import { checkVersion, parseDocument } from "./parse-document.ts";

/** Reads one part of a document, by absolute path or URL. Throws `Error` that says why it cannot. */
export type ReadPart = (location: string, signal: AbortSignal) => Promise<string>;

/** A file or URL that a document is made of, and the SHA-256 of what was read there, in hex. */
export interface DocumentPart {
  readonly location: string;
  readonly digest: string;
}

export interface LoadedDocument {
  /** OpenAPI 3.1, in which every reference leads into itself. */
  readonly document: unknown;
  /** The document itself first. */
  readonly parts: readonly DocumentPart[];
  readonly problems: readonly SourceProblem[];
}

/** Files and URLs that one document may be made of. */
const maxParts = 2_000;

/**
 * Loads a document and all that its references lead to, and brings it to OpenAPI 3.1. Where a reference leads to nothing
 * that can be read, that is a problem, and what needs it is left open.
 *
 * @param location absolute path or URL
 *
 * Errors: `Error` that says why the document itself cannot be used.
 */
export async function loadDocument(location: string, read: ReadPart, signal: AbortSignal): Promise<LoadedDocument> {
  const parts = new Map<string, DocumentPart>();
  const load = async (part: string): Promise<unknown> => {
    if (parts.size >= maxParts) throw new Error(`it is made of more than ${maxParts} files`);
    // Until it is read: what is missing is looked for again, and its coming noticed.
    parts.set(part, { location: part, digest: "" });
    const text = await read(part, signal);
    parts.set(part, { location: part, digest: digestOf(text) });
    return parseDocument(text);
  };
  const root = checkVersion(await load(location));
  const problems: SourceProblem[] = [];
  const whole = leadsOutside(root) ? await bundled(root, { location, load, problems }) : root;
  signal.throwIfAborted();
  return { document: upgrade(own(whole, "swagger") === undefined ? whole : inlineBodyParameters(whole), "3.1"), parts: [...parts.values()], problems };
}

export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

interface Bundling {
  readonly location: string;
  readonly load: (part: string) => Promise<unknown>;
  readonly problems: SourceProblem[];
}

async function bundled(root: Readonly<Record<string, unknown>>, { location, load, problems }: Bundling): Promise<Readonly<Record<string, unknown>>> {
  const faults = new Map<string, string>();
  const { document, diagnostics } = await bundleWithDiagnostics({ ...root }, {
    origin: location,
    traversal: "document",
    treeShake: false,
    plugins: [
      {
        type: "loader",
        validate: () => true,
        exec: async (part) => {
          try {
            return { ok: true, data: await load(part), raw: "" };
          } catch (fault) {
            faults.set(part, fault instanceof Error ? fault.message : String(fault));
            return { ok: false };
          }
        },
      },
    ],
  });
  for (const [part, fault] of faults) problems.push({ message: `${part}, to which a reference leads, cannot be used: ${fault}` });
  const lost = diagnostics.filter(({ kind }) => kind === "missing-target");
  for (const { reference, pointer } of lost.slice(0, 10)) problems.push({ message: `the reference ${reference} at ${pointer} leads nowhere; what it stands for is left open` });
  if (lost.length > 10) problems.push({ message: `${lost.length - 10} more references lead nowhere` });
  return document as Readonly<Record<string, unknown>>;
}

/** Whether any reference leads out of the document. */
function leadsOutside(root: unknown): boolean {
  const open: unknown[] = [root];
  const seen = new Set<unknown>();
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at !== "object" || at === null || seen.has(at)) continue;
    // YAML's aliases let one object stand in many places.
    seen.add(at);
    const ref = isRecord(at) ? own(at, "$ref") : undefined;
    if (typeof ref === "string" && !ref.startsWith("#")) return true;
    open.push(...Object.values(at).filter((value) => value !== undefined));
  }
  return false;
}
