// The official conformance suite's server scenarios against @modelcontextprotocol/server-everything, alone and behind
// `callgate mcp --pass-through`: what passes alone has to pass through the gate. With --write the scores go to
// docs/results/mcp-conformance.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openRelay } from "./mcp-relay.mjs";
import { markdownTable, measured, writeSection } from "./result-page.ts";

/** What passes alone and not through the gate, and why. */
const byDesign = new Map([
  ["tools-call-error", "the server has no such tool and says so in a result; the gate refuses what does not exist with an error of the protocol"],
  ["tools-call-simple-text", "as tools-call-error"],
]);

const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));
const everything = join(dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")), "dist", "index.js");
const callgate = fileURLToPath(new URL("../../packages/callgate/bin/callgate.mjs", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "callgate-pass-through-"));
const started = [];

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

/** A process that listens on a port, once it does. */
async function listening(words, { port, env = {} }) {
  const child = spawn(process.execPath, words, { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
  started.push(child);
  for (let tries = 0; tries < 600; tries++) {
    const answered = await fetch(`http://127.0.0.1:${port}/mcp`).then(() => true, () => false);
    if (answered) return;
    if (child.exitCode !== null) throw new Error(`${words.join(" ")} ended with ${child.exitCode}`);
    await setTimeout(100);
  }
  throw new Error(`${words.join(" ")} did not listen`);
}

/** Checks of every scenario, by its name. */
async function scores(url) {
  const out = await mkdtemp(join(folder, "results-"));
  const child = spawn(process.execPath, [suite, "server", "--url", url, "-o", out], { stdio: "ignore" });
  await once(child, "close");
  const found = new Map();
  for (const entry of await readdir(out, { recursive: true })) {
    if (!entry.endsWith("checks.json")) continue;
    const checks = JSON.parse(await readFile(join(out, entry), "utf8"));
    const name = dirname(entry).replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, "");
    const count = (status) => checks.filter((check) => check.status === status).length;
    found.set(name, { succeeded: count("SUCCESS"), failed: count("FAILURE"), why: checks.find(({ status }) => status === "FAILURE")?.errorMessage ?? "" });
  }
  return found;
}

try {
  const [alonePort, gatePort] = [await freePort(), await freePort()];
  await listening([everything, "streamableHttp"], { port: alonePort, env: { PORT: String(alonePort) } });
  const alone = await scores(`http://127.0.0.1:${alonePort}/mcp`);
  await writeFile(join(folder, "callgate.jsonc"), JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [everything, "stdio"], trusted: true } }, rules: [{ allow: "everything.*" }] }));
  const token = "conformance-token-0123456789";
  const state = { HOME: folder, XDG_STATE_HOME: join(folder, "state"), XDG_CONFIG_HOME: join(folder, "config") };
  await listening([callgate, "--trust", "--config", join(folder, "callgate.jsonc"), "mcp", "--http", String(gatePort), "--token", token, "--pass-through", "everything"], { port: gatePort, env: state });
  const relay = await openRelay({ port: gatePort, token });
  const through = await scores(relay.url);
  relay.close();
  const passed = (score) => score !== undefined && score.failed === 0 && score.succeeded > 0;
  const shown = (score) => (score === undefined ? "not run" : `${passed(score) ? "pass" : "fail"}, ${score.succeeded} of ${score.succeeded + score.failed}`);
  const names = [...new Set([...alone.keys(), ...through.keys()])].toSorted((a, b) => (a < b ? -1 : 1));
  const rows = names.map((name) => [name, shown(alone.get(name)), shown(through.get(name)), passed(through.get(name)) ? "" : byDesign.has(name) ? `by design: ${byDesign.get(name)}` : (through.get(name)?.why ?? "").replaceAll(/\s+/g, " ").replaceAll("|", "/").slice(0, 120)]);
  for (const row of rows) console.log(row.join(" | "));
  const lost = names.filter((name) => passed(alone.get(name)) && !passed(through.get(name)));
  const wrong = [...lost.filter((name) => !byDesign.has(name)), ...[...byDesign.keys()].filter((name) => !lost.includes(name))];
  const count = (scored) => names.filter((name) => passed(scored.get(name))).length;
  console.log(`alone ${count(alone)} of ${names.length}, through the gate ${count(through)}; lost: ${lost.join(", ") || "none"}; against expectation: ${wrong.join(", ") || "none"}`);
  if (process.argv.includes("--write") && names.length > 0) {
    writeSection({
      page: "mcp-conformance.md",
      intro: "# MCP conformance\n\nScenarios of the official suite (`@modelcontextprotocol/conformance`). Each section is written by the command it names.",
      section: "Server scenarios: server-everything alone, and behind pass-through",
      text: `${measured("node checks/full/mcp-pass-through.mjs --write")} Alone over Streamable HTTP ${count(alone)} of ${names.length} scenarios pass, through \`callgate mcp --http --pass-through\` in front of its stdio ${count(through)}. Passed alone and not through the gate: ${lost.join(", ") || "none"}. Most scenarios ask for tools, resources and prompts by names that this server does not have.\n\n${markdownTable(["scenario", "alone", "through the gate", "what failed through the gate"], rows)}`,
    });
  }
  process.exitCode = wrong.length === 0 && names.length > 0 ? 0 : 1;
} finally {
  for (const child of started) if (child.kill()) await once(child, "close");
  await rm(folder, { recursive: true, force: true });
}
