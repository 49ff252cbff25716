import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CallgateError } from "@callgate/contract";
import { baseImages, findImage } from "./container-images.ts";
import type { BaseImageName, EngineImage } from "./container-images.ts";
import { createContainerLauncher } from "./container-launcher.ts";
import type { ContainerOptions } from "./container-options.ts";
import type { EngineKind } from "./container-request.ts";
import { findEngine } from "./find-engine.ts";
import type { Engine } from "./find-engine.ts";
import { scanImage } from "./scan-image.ts";
import type { Scan } from "./scan-image.ts";

export interface BuildImageOptions {
  readonly name: BaseImageName;
  /** A folder that is a whole root file system: imported as it is, no registry is needed. */
  readonly rootFolder?: string;
  /** Over the image that the Dockerfile begins with. */
  readonly base?: string;
  /** Network of the build's own commands, as Docker names it. Default: the engine's. */
  readonly network?: string;
  /** What the engine prints on the way. */
  readonly onLine?: (line: string) => void;
}

/** What was found of one image. */
export interface ImageReport {
  readonly image: EngineImage;
  readonly ageDays: number;
  /** What it has of what it is for, `name version`. */
  readonly packages: readonly string[];
  readonly scan: Scan;
  /** What is wrong or worth doing, for people. Empty when all is well. */
  readonly findings: readonly string[];
}

export interface ImageStore {
  readonly kind: EngineKind;
  /** The base images, and what a configuration names; undefined where the engine does not have it. */
  list(): Promise<readonly { readonly reference: string; readonly image: EngineImage | undefined }[]>;
  /** Makes a base image, from a root file system or from its Dockerfile. Throws `CallgateError` DRIVER_FAILED with what the engine said. */
  build(options: BuildImageOptions): Promise<EngineImage>;
  /** Looks at each image that is there: age, packages by running it, known weaknesses by a scanner where there is one. */
  check(): Promise<readonly ImageReport[]>;
  close(): void;
}

/** Security fixes of a distribution come in weeks. */
const oldDays = 30;

/** Opens the engine's images. Throws `CallgateError` DRIVER_FAILED when no engine of this kind can be used. */
export async function openImageStore(kind: EngineKind, options: ContainerOptions = {}): Promise<ImageStore> {
  const engine = await findEngine(kind, options);
  if ("reason" in engine) throw new CallgateError("DRIVER_FAILED", `Cannot look at images: ${engine.reason}. To do: ${engine.fix}`);
  const { image = [] } = options;
  const references = [...new Set([...(typeof image === "string" ? [image] : Object.values(image)), ...Object.values(baseImages)])];
  const list = (): ReturnType<ImageStore["list"]> => Promise.all(references.map(async (reference) => ({ reference, image: await findImage(engine.client, reference) })));
  return {
    kind,
    list,
    build: (build) => buildImage(engine, build),
    async check() {
      const reports: ImageReport[] = [];
      for (const { image: found } of await list()) if (found !== undefined) reports.push(await reportOn(engine, found, options));
      return reports;
    },
    close: () => engine.client.close(),
  };
}

async function buildImage(engine: Engine, { name, rootFolder, base, network, onLine = () => undefined }: BuildImageOptions): Promise<EngineImage> {
  const made = `callgate.image=${name}`;
  const folder = rootFolder ?? fileURLToPath(new URL(`../../../images/${name}`, import.meta.url));
  if (!existsSync(folder)) throw new CallgateError("USAGE", `There is no folder ${folder}`);
  const archive = tarOf(folder);
  const query: Record<string, string> =
    rootFolder === undefined
      ? { t: baseImages[name], rm: "1", forcerm: "1", labels: JSON.stringify(Object.fromEntries([made.split("=")])), buildargs: JSON.stringify(base === undefined ? {} : { BASE: base }), ...(network === undefined ? {} : { networkmode: network }) }
      : { fromSrc: "-", changes: `LABEL ${made}` };
  const response = await engine.client.open("POST", rootFolder === undefined ? "/build" : "/images/create", { query, stream: archive.stream });
  const said = await lastOf(response, onLine);
  await archive.ended;
  if (said.error !== undefined) throw new CallgateError("DRIVER_FAILED", `The engine could not build the image ${name}: ${said.error}`);
  if (rootFolder !== undefined) {
    if (said.id === undefined) throw new CallgateError("DRIVER_FAILED", `The engine imported ${folder} and did not say as what`);
    const [repo = "", tag = "latest"] = baseImages[name].split(/:(?=[^/]*$)/);
    await engine.client.call("POST", `/images/${said.id}/tag`, { query: { repo, tag } });
  }
  const built = await findImage(engine.client, baseImages[name]);
  if (built === undefined) throw new CallgateError("DRIVER_FAILED", `The engine built the image ${name} and does not have it`);
  return built;
}

function tarOf(folder: string): { readonly stream: Readable; readonly ended: Promise<void> } {
  const child = spawn("tar", ["-C", folder, "-c", "."], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = Promise.all([text(child.stderr), new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve))]).then(([said, code]) => {
    if (code !== 0) throw new CallgateError("DRIVER_FAILED", `Cannot read ${folder}: ${said.trim().slice(0, 400)}`);
  });
  ended.catch(() => undefined);
  return { stream: child.stdout, ended };
}

/** Reads what an engine tells of a build, a JSON object a line, to its end. */
async function lastOf(response: Readable, onLine: (line: string) => void): Promise<{ readonly id: string | undefined; readonly error: string | undefined }> {
  let id: string | undefined;
  let error: string | undefined;
  for (const line of (await text(response)).split("\n")) {
    if (line.trim() === "") continue;
    const said = JSON.parse(line) as { readonly stream?: string; readonly status?: string; readonly error?: string; readonly id?: string };
    error ??= said.error;
    id = /sha256:[0-9a-f]{64}/.exec(`${said.id ?? ""} ${said.status ?? ""}`)?.[0] ?? id;
    for (const printed of (said.stream ?? "").split("\n")) if (printed.trim() !== "") onLine(printed);
  }
  return { id, error };
}

/** Prints `name version` of what an image of Callgate is for, as far as it is there. */
const packageScript = [
  "command -v bash >/dev/null && bash --version | head -n 1 | while read -r a b c d e; do echo bash $d; done",
  "command -v node >/dev/null && echo node $(node --version)",
  'command -v python3 >/dev/null && python3 -I -c "import sys, importlib.metadata as m\nprint(\'python\', sys.version.split()[0])\nfor n in (\'numpy\', \'pandas\', \'matplotlib\'):\n    try: print(n, m.version(n))\n    except m.PackageNotFoundError: pass"',
  "true",
].join("; ");

const wanted: Readonly<Record<BaseImageName, readonly string[]>> = { python: ["python", "numpy", "pandas", "matplotlib"], node: ["node"], shell: ["bash"] };

async function reportOn(engine: Engine, image: EngineImage, options: ContainerOptions): Promise<ImageReport> {
  const ageDays = Math.floor((Date.now() - image.createdMs) / 86_400_000);
  const packages = await packagesOf(engine, image, options);
  const scan = await scanImage(engine, image.id);
  const name = (Object.keys(baseImages) as BaseImageName[]).find((one) => baseImages[one] === image.reference);
  const findings = [
    ...(image.isPinned ? [] : [`a tag: to pin it, write ${image.id} in sandbox.container.image`]),
    ...(ageDays > oldDays ? [`${ageDays} days old: build it again for its distribution's fixes`] : []),
    ...(typeof packages === "string" ? [`it does not run: ${packages}`] : wantedOf(name, packages)),
    ...(scan.kind === "found" && scan.high + scan.critical > 0 ? [`${scan.scanner} knows ${scan.critical} critical and ${scan.high} high weaknesses of it`] : []),
  ];
  return { image, ageDays, packages: typeof packages === "string" ? [] : packages, scan, findings };
}

function wantedOf(name: BaseImageName | undefined, packages: readonly string[]): readonly string[] {
  const absent = name === undefined ? [] : wanted[name].filter((one) => !packages.some((line) => line.startsWith(`${one} `)));
  return absent.length === 0 ? [] : [`it lacks ${absent.join(", ")}`];
}

/** What it has, or why it could not be run. It is run as programs are: behind every wall. */
async function packagesOf({ kind, client }: Engine, { id }: EngineImage, options: ContainerOptions): Promise<readonly string[] | string> {
  const launcher = createContainerLauncher(kind, { ...options, engines: [client.socketPath], image: id });
  const probe = await launcher.probe();
  if (probe.kind === "unavailable") return probe.reason;
  const guest = launcher.launch({ command: ["/bin/sh", "-c", packageScript], environment: {}, bounds: { memoryMiB: 512, processes: 32, workspaceMiB: 16, workspaceFiles: 256, openFiles: 128, reservedMiB: 1_024 }, mounts: [] });
  const [said] = await Promise.all([text(guest.stdout), text(guest.stderr), guest.exited]);
  await launcher.close?.();
  return said.trim().split("\n").filter((line) => line !== "");
}
