import { isAbsolute } from "node:path";
import { CallgateError } from "@callgate/contract";

/** How containers are made. Everything has a default but is asked of the engine, never assumed. */
export interface ContainerOptions {
  /**
   * The image of every language, or of each by name. `name@sha256:…` or `sha256:…` is pinned; a tag is resolved once, when
   * the launcher is probed, and what it stood for is said. Default: what `callgate sandbox images build` makes.
   */
  readonly image?: string | Readonly<Record<string, string>>;
  /** Unix sockets of engines, in order; the first that answers and has `labels` is taken. Default: where each usually is. */
  readonly engines?: readonly string[];
  /** What the engine's own labels must say (`dockerd --label zone=eu`): chooses a host. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Another OCI runtime the engine knows: `runsc`, `kata`. */
  readonly runtime?: string;
  /** Cores, may be a fraction. Default 1. */
  readonly cpus?: number;
  /** Graphics processors: all, so many, or these. */
  readonly gpus?: "all" | number | readonly string[];
  /**
   * How frames go: `mount` through pipes in a folder both sides see, `exec` through the engine. Default `auto`: `mount`
   * where it works.
   */
  readonly channel?: "auto" | "mount" | "exec";
  /** More of the Engine API's `HostConfig`, from a short list: nothing of it can open a wall. */
  readonly extra?: Readonly<Record<string, string | number>>;
}

/** Fields of `HostConfig` that only take from a container, or say where it runs. */
const extraFields: Readonly<Record<string, "string" | "number">> = {
  CpusetCpus: "string",
  CpusetMems: "string",
  CpuShares: "number",
  BlkioWeight: "number",
  OomScoreAdj: "number",
  CgroupParent: "string",
};

/** Throws `CallgateError` CONFIG_INVALID that names the option and what it may be. */
export function checkContainerOptions({ image, engines = [], labels = {}, runtime, cpus, gpus, extra = {} }: ContainerOptions): void {
  for (const reference of typeof image === "string" ? [image] : Object.values(image ?? {})) {
    if (!/^[\w][\w.\-/:@]*$/.test(reference)) throw wrong("image", `"${reference}" is no image; write name@sha256:…, sha256:… or name:tag`);
  }
  for (const engine of engines) if (!isAbsolute(engine.replace(/^unix:\/\//, ""))) throw wrong("engines", `"${engine}" is no unix socket; write unix:///path/to/docker.sock`);
  for (const label of Object.keys(labels)) if (label === "" || label.includes("=")) throw wrong("labels", `"${label}" is no label; write { "zone": "eu" }`);
  if (runtime !== undefined && !/^[\w.-]+$/.test(runtime)) throw wrong("runtime", `"${runtime}" is no runtime; write the name the engine has for it, such as runsc`);
  if (cpus !== undefined && !(cpus > 0 && cpus <= 1024)) throw wrong("cpus", `${cpus} is no number of cores`);
  if (typeof gpus === "number" && !(Number.isInteger(gpus) && gpus > 0)) throw wrong("gpus", `${gpus} is no number of graphics processors`);
  for (const [field, value] of Object.entries(extra)) {
    const type = Object.hasOwn(extraFields, field) ? extraFields[field] : undefined;
    if (type === undefined) throw wrong(`extra.${field}`, `it is not one of ${Object.keys(extraFields).join(", ")}. Whatever else a container is given could open a wall`);
    if (typeof value !== type) throw wrong(`extra.${field}`, `it has to be a ${type}`);
    // Below zero the kernel would rather end the host's own processes than the guest's.
    if (field === "OomScoreAdj" && Number(value) < 0) throw wrong("extra.OomScoreAdj", "it has to be from 0");
  }
}

function wrong(option: string, why: string): CallgateError {
  return new CallgateError("CONFIG_INVALID", `Cannot make containers with sandbox.container.${option}: ${why}`);
}
