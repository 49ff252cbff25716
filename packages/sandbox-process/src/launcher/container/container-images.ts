import { CallgateError } from "@callgate/contract";
import type { ContainerOptions } from "./container-options.ts";
import { EngineError } from "./engine-client.ts";
import type { EngineClient } from "./engine-client.ts";

/** An image as an engine has it. */
export interface EngineImage {
  /** `sha256:…`: names exactly these bytes. */
  readonly id: string;
  /** What was asked for. */
  readonly reference: string;
  readonly isPinned: boolean;
  readonly createdMs: number;
  readonly sizeMiB: number;
  readonly labels: Readonly<Record<string, string>>;
}

export type BaseImageName = "python" | "node" | "shell";

/** Images of the languages, where a configuration names none. `callgate sandbox images build` makes them. */
export const baseImages: Readonly<Record<BaseImageName, string>> = {
  python: "localhost/callgate-python:latest",
  node: "localhost/callgate-node:latest",
  shell: "localhost/callgate-shell:latest",
};

/** Which base image runs a language; one that is not known runs where only the system is. */
function baseImageOf(language: string | undefined): readonly string[] {
  if (language === "python") return [baseImages.python];
  if (language === "javascript" || language === "typescript") return [baseImages.node];
  return language === "shell" ? [baseImages.shell, baseImages.python] : [baseImages.shell, baseImages.python, baseImages.node];
}

interface Inspected {
  readonly Id: string;
  readonly Created?: string;
  readonly Size?: number;
  readonly Config?: { readonly Labels?: Readonly<Record<string, string>> | null; readonly Volumes?: Readonly<Record<string, object>> | null } | null;
}

/**
 * What an image reference stands for on an engine; undefined when it is not there. Nothing is ever pulled.
 *
 * Throws `CallgateError` CONFIG_INVALID for an image that declares volumes: they would be written to the host's disk
 * without a bound.
 */
export async function findImage(client: EngineClient, reference: string): Promise<EngineImage | undefined> {
  let inspected: Inspected;
  try {
    inspected = (await client.call("GET", `/images/${encodeURI(reference)}/json`)) as Inspected;
  } catch (fault) {
    if (fault instanceof EngineError && fault.status === 404) return undefined;
    throw fault;
  }
  const volumes = Object.keys(inspected.Config?.Volumes ?? {});
  if (volumes.length > 0) throw new CallgateError("CONFIG_INVALID", `Cannot use the image ${reference}: it declares volumes (${volumes.join(", ")}), which programs would fill on the host's disk without a bound. Build it without VOLUME`);
  return {
    id: inspected.Id.startsWith("sha256:") ? inspected.Id : `sha256:${inspected.Id}`,
    reference,
    isPinned: /(^|@)sha256:[0-9a-f]{64}$/.test(reference),
    createdMs: Date.parse(inspected.Created ?? ""),
    sizeMiB: (inspected.Size ?? 0) / 1024 / 1024,
    labels: inspected.Config?.Labels ?? {},
  };
}

/** The images of the languages that have one. */
export interface ImageSet {
  /** By language. */
  readonly byLanguage: ReadonlyMap<string, EngineImage>;
  /** Of a language that is not in it; undefined where each language has its own. */
  readonly any: EngineImage | undefined;
  /** For people: which tags stood for what. */
  readonly notes: readonly string[];
}

/** The image that runs a language; without one, whatever there is: where only the system counts. */
export function imageFor({ byLanguage, any }: ImageSet, language: string | undefined): EngineImage | undefined {
  if (language === undefined) return any ?? byLanguage.values().next().value;
  return byLanguage.get(language) ?? any;
}

/** The images a configuration names, or the base images that were built. What is named has to be there. */
export async function findImages(client: EngineClient, { image }: Pick<ContainerOptions, "image">): Promise<ImageSet | { readonly reason: string; readonly fix: string }> {
  const named = typeof image === "string" ? { any: image } : (image ?? {});
  const found = new Map<string, EngineImage>();
  for (const [language, reference] of Object.entries(named)) {
    const one = await findImage(client, reference);
    if (one === undefined) return { reason: `the image ${reference} is not on the engine at ${client.socketPath}`, fix: `get it there (docker pull, docker load, callgate sandbox images build); Callgate pulls none by itself` };
    found.set(language, one);
  }
  const any = typeof image === "string" ? found.get("any") : undefined;
  if (any === undefined) {
    for (const language of ["python", "shell", "javascript", "typescript"]) {
      for (const reference of found.has(language) ? [] : baseImageOf(language)) {
        const one = await findImage(client, reference);
        if (one === undefined) continue;
        found.set(language, one);
        break;
      }
    }
    if (found.size === 0) return { reason: `none of the base images is on the engine at ${client.socketPath}`, fix: "callgate sandbox images build, or name one in sandbox.container.image" };
  } else found.delete("any");
  const tags = new Map([...(any === undefined ? [] : [any]), ...found.values()].filter(({ isPinned }) => !isPinned).map(({ reference, id }) => [reference, id]));
  return { byLanguage: found, any, notes: [...tags].map(([reference, id]) => `the image ${reference} is a tag and stands for ${id} now; to pin it, write that in sandbox.container.image`) };
}
