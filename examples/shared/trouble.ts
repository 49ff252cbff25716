// What goes wrong in the world of a job: a service that fails, a document that lies, a rule that says no. It is made where it
// would be made, on the wire and on the disk, and no tool knows of it.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";

/** How a service answers in place of what it should. */
export const serviceFault = z.strictObject({
  /** Of the first so many requests. Default: all. */
  times: z.int().positive().optional(),
  /** `fail`: with a status. `hang`: never. `garbage`: a page that is no JSON. */
  kind: z.enum(["fail", "hang", "garbage"]),
  /** Of `fail`. Default 503. */
  status: z.int().min(400).max(599).optional(),
  /** What it says then. */
  message: z.string().optional(),
  /** Whether it did what was asked of it before. Default false. */
  after: z.boolean().optional(),
});
export type ServiceFault = z.infer<typeof serviceFault>;

export const troubleShape = z.strictObject({
  /** Requests that go wrong, by method and path: `POST /tickets`. */
  services: z.record(z.string(), serviceFault).default({}),
  /** Files of the world that hold another text, by their path in its folder. */
  files: z.record(z.string(), z.string()).default({}),
  /** Texts that files of the world end with. */
  appended: z.record(z.string(), z.string()).default({}),
  /** Files of so many lines, each with its number. */
  lines: z.record(z.string(), z.int().positive()).default({}),
  /** Tools that fail, or say nothing at all, before they do anything, as where what stands behind them is down. */
  tools: z.record(z.string(), z.strictObject({ times: z.int().positive().optional(), message: z.string().default("It cannot be reached"), hangs: z.boolean().default(false) })).default({}),
  /** How long tools are waited for. Default: as they say. */
  timeoutsMs: z.record(z.string(), z.int().positive()).default({}),
  /** How many times as much there is of what the job reads. */
  times: z.int().min(1).max(100).default(1),
  /** What whoever is asked says. */
  approver: z.enum(["nobody", "yes", "no"]).default("nobody"),
});
export type Trouble = z.infer<typeof troubleShape>;

export const noTrouble: Trouble = troubleShape.parse({});

/** Puts the files of trouble where they belong. Call it when the world's own are there. */
export function plantFiles(folder: string, { files, appended, lines }: Trouble): void {
  const long = Object.entries(lines).map(([path, count]) => [path, Array.from({ length: count }, (_unused, index) => `line ${index + 1}\n`).join("")] as const);
  for (const [path, text] of [...Object.entries(files), ...long]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const [path, text] of Object.entries(appended)) appendFileSync(join(folder, path), text);
}
