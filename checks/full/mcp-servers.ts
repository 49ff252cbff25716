// Starts the MCP servers of ../shared/data/mcp/servers.json for real: each from npm, without a network of its own to speak
// of, with made-up credentials. Lists each, calls what its own word says only reads and needs no arguments, and says what
// became of it. `--write` puts the table into docs/results/mcp-servers.md. What npm does not bring is said as such.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "@callgate/contract";
import { CallgateError, localPrincipal } from "@callgate/contract";
import { createMcpSource } from "../../packages/source-mcp/src/index.ts";
import { markdownTable, measured, writeSection } from "./result-page.ts";

interface Server {
  readonly name: string;
  readonly package: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const list = new URL("../../../shared/data/mcp/servers.json", import.meta.url);
if (!existsSync(list)) {
  console.log("skipped: ../shared/data/mcp/servers.json is not here");
  process.exit(0);
}
const only = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const servers = (JSON.parse(readFileSync(list, "utf8")) as Server[]).filter(({ name }) => only.length === 0 || only.includes(name));
const folder = mkdtempSync(join(tmpdir(), "callgate-servers-"));
writeFileSync(join(folder, "note.md"), "# A note\n");

const log = (): void => undefined;
const contextOf = (signal: AbortSignal): ToolContext => ({ signal, principal: localPrincipal, runId: "run_1", callId: "run_1.1", idempotencyKey: "key", log: { debug: log, info: log, warn: log, error: log }, progress: log, reportCost: log, attach: () => Promise.reject(new Error("not used")) });

/** Its entry file, installed into a folder of its own so that no server's packages meet another's. */
function install({ name, package: wanted }: Server): string | undefined {
  const place = join(folder, name);
  const done = spawnSync("npm", ["install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", wanted], { encoding: "utf8", timeout: 900_000, env: { ...process.env, PUPPETEER_SKIP_DOWNLOAD: "1" } });
  const manifest = join(place, "node_modules", wanted, "package.json");
  if (done.status !== 0 || !existsSync(manifest)) return undefined;
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly bin?: string | Readonly<Record<string, string>> };
  const file = typeof bin === "string" ? bin : Object.values(bin ?? {})[0];
  return file === undefined ? undefined : join(place, "node_modules", wanted, file);
}

async function look(server: Server): Promise<readonly (string | number)[]> {
  const entry = install(server);
  if (entry === undefined) return [server.name, "npm does not bring it", "", "", "", ""];
  const filled = (text: string): string => text.replace("<dir>", folder).replace("<file>", join(folder, `${server.name}.json`));
  const env = Object.fromEntries(Object.entries(server.env).map(([key, value]) => [key, filled(value)]));
  const source = createMcpSource({ namespace: server.name, command: process.execPath, args: [entry, ...server.args.map(filled)], env, cwd: folder });
  try {
    const { tools, problems } = await source.list(AbortSignal.timeout(60_000));
    const callable = tools.filter(({ tool }) => tool.effect === "read" && ((tool.input as { readonly required?: readonly string[] }).required ?? []).length === 0).slice(0, 5);
    const answers = await Promise.all(callable.map(({ tool }) => source.call(tool.name, {}, contextOf(AbortSignal.timeout(20_000))).then(() => "ok", () => "error")));
    return [server.name, "started", tools.length, problems.length, `${answers.filter((one) => one === "ok").length} of ${answers.length}`, problems[0]?.message.slice(0, 120) ?? ""];
  } catch (error) {
    const brief = CallgateError.is(error) && typeof error.details["brief"] === "string" ? error.details["brief"] : String(error);
    return [server.name, "down", "", "", "", brief.replaceAll(/\s+/g, " ").slice(0, 160)];
  } finally {
    await source.close();
    rmSync(join(folder, server.name), { recursive: true, force: true });
  }
}

const rows: (readonly (string | number)[])[] = [];
for (const server of servers) {
  const row = await look(server);
  rows.push(row);
  console.log(row.join(" | "));
}
rmSync(folder, { recursive: true, force: true });
if (process.argv.includes("--write")) {
  writeSection({
    page: "mcp-servers.md",
    intro: "# Real MCP servers\n\nServers as their authors publish them, started for real. A tool that is malformed is a problem of that tool; a server that cannot start is down by itself.",
    section: "Started, listed and called",
    text: `${measured("node checks/full/mcp-servers.ts --write")} Credentials are made up, and there is no network but the package registry. Called are at most five tools of each that say of themselves that they only read, and need no arguments.\n\n${markdownTable(["server", "state", "tools", "problems", "calls that were answered", "what was said"], rows)}`,
  });
}
const lost = rows.filter(([name, state]) => name === "gitlab-old" && state !== "started");
process.exitCode = lost.length === 0 ? 0 : 1;
