import { CallgateError } from "@callgate/contract";
import { openImageStore } from "@callgate/sandbox-process";
import type { ImageReport, ImageStore } from "@callgate/sandbox-process";
import { containerOptions } from "../../sandbox-driver.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCodes } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { renderTable } from "../table.ts";

/** `callgate sandbox images build`: what it takes. */
export interface BuildImagesOptions {
  readonly root?: string;
  readonly base?: string;
  readonly network?: string;
}

const names = ["python", "node", "shell"] as const;

/** `callgate sandbox images ls` */
export async function listImagesCommand(context: CommandContext): Promise<ExitCode> {
  const { terminal, options } = context;
  return await withImages(context, async (images) => {
    const found = await images.list();
    if (options.json === true) terminal.out(`${JSON.stringify({ engine: images.kind, images: found })}\n`);
    else {
      const said = found.map(({ reference, image }) => (image === undefined ? [reference, "", "not there"] : [reference, image.id, `${Math.round(image.sizeMiB)} MiB`]));
      terminal.out(renderTable([`image (${images.kind})`, "digest", ""], said, { columns: terminal.outColumns, colors: terminal.outColors }));
    }
    return exitCodes.ok;
  });
}

/** `callgate sandbox images build`: one of the base images, or all. */
export async function buildImagesCommand(wanted: string | undefined, { root, base, network }: BuildImagesOptions, context: CommandContext): Promise<ExitCode> {
  const { terminal, options } = context;
  const chosen = wanted === undefined ? names : names.filter((name) => name === wanted);
  if (chosen.length === 0) throw new CallgateError("USAGE", `There is no base image ${wanted}; there are ${names.join(", ")}`);
  if (root !== undefined && wanted === undefined) throw new CallgateError("USAGE", "--root is the root file system of one image: name it, such as callgate sandbox images build python --root ./rootfs");
  return await withImages(context, async (images) => {
    const built: object[] = [];
    for (const name of chosen) {
      const image = await images.build({ name, ...(root === undefined ? {} : { rootFolder: root }), ...(base === undefined ? {} : { base }), ...(network === undefined ? {} : { network }), onLine: (line) => options.json !== true && terminal.err(`${terminal.colors.dim(line)}\n`) });
      built.push(image);
      if (options.json !== true) terminal.out(`${image.reference}\n  ${image.id}, ${Math.round(image.sizeMiB)} MiB\n  to pin it: "sandbox": { "container": { "image": { "${name === "node" ? "javascript" : name}": "${image.id}" } } }\n`);
    }
    if (options.json === true) terminal.out(`${JSON.stringify({ engine: images.kind, images: built })}\n`);
    return exitCodes.ok;
  });
}

/** `callgate sandbox images check`: fails where one does not run, lacks something, is old, or is known to be weak. */
export async function checkImagesCommand(context: CommandContext): Promise<ExitCode> {
  const { terminal, options } = context;
  return await withImages(context, async (images) => {
    const reports = await images.check();
    if (options.json === true) terminal.out(`${JSON.stringify({ engine: images.kind, reports })}\n`);
    else for (const report of reports) terminal.out(`${report.image.reference}\n${linesOf(report).map((line) => `  ${line}\n`).join("")}`);
    if (reports.length === 0 && options.json !== true) terminal.out("no image is there; callgate sandbox images build makes them\n");
    return reports.length > 0 && reports.every(({ findings }) => findings.every((finding) => finding.startsWith("a tag"))) ? exitCodes.ok : exitCodes.failed;
  });
}

function linesOf({ image, ageDays, packages, scan, findings }: ImageReport): readonly string[] {
  const scanned = scan.kind === "found" ? `${scan.scanner}: ${scan.critical} critical, ${scan.high} high` : scan.kind === "failed" ? `${scan.scanner} failed: ${scan.reason}` : `not scanned: ${scan.fix}`;
  return [image.id, `${ageDays} days old, ${Math.round(image.sizeMiB)} MiB`, packages.join(", ") || "nothing known in it", scanned, ...findings.map((finding) => `! ${finding}`)];
}

/** The engine a configuration names, else the first that can be used. */
async function withImages(context: CommandContext, use: (images: ImageStore) => Promise<ExitCode>): Promise<ExitCode> {
  const { config: { launcher, container } } = await context.sandboxConfig();
  const options = containerOptions(container);
  let images: ImageStore;
  if (launcher === "docker" || launcher === "podman") images = await openImageStore(launcher, options);
  else {
    images = await openImageStore("docker", options).catch(async (fault: unknown) => {
      return await openImageStore("podman", options).catch((other: unknown) => {
        throw new CallgateError("DRIVER_FAILED", `${fault instanceof Error ? fault.message : String(fault)}\n${other instanceof Error ? other.message : String(other)}`);
      });
    });
  }
  try {
    return await use(images);
  } finally {
    images.close();
  }
}
