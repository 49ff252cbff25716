import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { Engine } from "./find-engine.ts";

/** What a scanner for known weaknesses says of an image. */
export type Scan =
  | { readonly kind: "absent"; readonly fix: string }
  | { readonly kind: "failed"; readonly scanner: string; readonly reason: string }
  | { readonly kind: "found"; readonly scanner: string; readonly critical: number; readonly high: number };

const run = promisify(execFile);
/** The first scan of a machine fetches what is known of weaknesses. */
const timeoutMs = 600_000;

interface Scanner {
  readonly name: string;
  readonly arguments: (engine: Engine["kind"], id: string) => readonly string[];
  /** Severities of what it found, from its JSON. */
  readonly severities: (report: unknown) => readonly string[];
}

/** Scanners by their programs; whichever is on the PATH is taken. Their JSON is read for severities alone. */
export const scanners: readonly Scanner[] = [
  {
    name: "trivy",
    arguments: (_engine, id) => ["image", "--quiet", "--format", "json", "--scanners", "vuln", id],
    severities: (report) => ((report as { readonly Results?: readonly { readonly Vulnerabilities?: readonly { readonly Severity?: string }[] }[] }).Results ?? []).flatMap(({ Vulnerabilities: found }) => (found ?? []).map(({ Severity: severity }) => severity ?? "")),
  },
  {
    name: "grype",
    arguments: (engine, id) => [`${engine}:${id}`, "--output", "json", "--quiet"],
    severities: (report) => ((report as { readonly matches?: readonly { readonly vulnerability?: { readonly severity?: string } }[] }).matches ?? []).map(({ vulnerability }) => vulnerability?.severity ?? ""),
  },
];

/** Asks the first scanner there is. It gets the engine's socket and a PATH, and nothing else of our environment. */
export async function scanImage({ kind, client }: Engine, id: string): Promise<Scan> {
  const path = process.env["PATH"] ?? "";
  const scanner = scanners.find(({ name }) => path.split(delimiter).some((folder) => existsSync(join(folder, name))));
  if (scanner === undefined) return { kind: "absent", fix: `install ${scanners.map(({ name }) => name).join(" or ")} to have images scanned for known weaknesses` };
  const socket = `unix://${client.socketPath}`;
  try {
    const { stdout } = await run(scanner.name, scanner.arguments(kind, id), { timeout: timeoutMs, maxBuffer: 256 * 1024 * 1024, env: { PATH: path, HOME: process.env["HOME"], DOCKER_HOST: socket, CONTAINER_HOST: socket } });
    const severities = scanner.severities(JSON.parse(stdout)).map((severity) => severity.toLowerCase());
    return { kind: "found", scanner: scanner.name, critical: severities.filter((one) => one === "critical").length, high: severities.filter((one) => one === "high").length };
  } catch (fault) {
    return { kind: "failed", scanner: scanner.name, reason: fault instanceof Error ? fault.message.slice(0, 400) : String(fault) };
  }
}
