// Callgate beside other code-mode runtimes, in one run on one machine: `npm run bench`. Prints medians of rounds in which
// all take turns, and each figure's ratio to the best peer's. `--write` also writes the figures of docs/results/side-by-side.md.
// Peers are installed apart (npm ci --legacy-peer-deps --prefix bench/peers); a missing one is said.
import { fork } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { measured, writeSection } from "../checks/full/result-page.ts";
import { competitors } from "./competitors.mjs";
import { scenarios } from "./scenarios.mjs";
import { median } from "./median.ts";

const rounds = Number(process.argv.find((argument) => argument.startsWith("--rounds="))?.slice(9) ?? 3);
const timeoutMs = 25_000;
const child = fileURLToPath(new URL("./competitor.mjs", import.meta.url));

function start(name) {
  const process_ = fork(child, [name], { execArgv: ["--expose-gc"], stdio: ["ignore", "ignore", "ignore", "ipc"], detached: true });
  const next = (ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ failed: `no answer in ${ms / 1000} s` }), ms);
      const done = (answer) => (clearTimeout(timer), process_.off("message", done), process_.off("exit", died), resolve(answer));
      const died = () => done({ failed: "its process died" });
      process_.once("message", done);
      process_.once("exit", died);
    });
  return { process: process_, ask: (scenario) => (process_.connected ? (process_.send(scenario), next(timeoutMs)) : Promise.resolve({ failed: "its process died" })), ready: next(30_000) };
}

/** Ends the whole group: some start processes of their own. */
function end(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It died by itself.
  }
}

const figures = {};
const missing = [];
for (const [scenario, { unit }] of Object.entries(scenarios)) {
  const measured = Object.fromEntries(Object.keys(competitors).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(competitors)) {
      if (missing.some((one) => one.startsWith(`${name}:`)) || typeof measured[name] === "string") continue;
      const competitor = start(name);
      const ready = await competitor.ready;
      if (ready.missing !== undefined || ready.failed !== undefined) missing.push(`${name}: ${ready.missing ?? ready.failed}`);
      else {
        const answer = await competitor.ask(scenario);
        if (answer.failed === undefined) measured[name].push(answer.value);
        else measured[name] = answer.failed;
      }
      end(competitor.process.pid);
    }
  }
  figures[scenario] = Object.fromEntries(Object.entries(measured).map(([name, values]) => [name, typeof values === "string" ? values : values.length === 0 ? undefined : median(values)]));
  process.stderr.write(`${scenario} (${unit}): ${JSON.stringify(figures[scenario])}\n`);
}

const shown = (value) => (typeof value === "number" ? (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(3)) : (value ?? "missing"));
const names = Object.keys(competitors);
const isPeer = (name) => !name.startsWith("callgate");
const row = (...cells) => `| ${cells.join(" | ")} |`;
const lines = [row("scenario", "unit", ...names, "callgate ÷ best peer"), row(...Array.from({ length: names.length + 3 }, () => "---"))];
for (const [scenario, { unit }] of Object.entries(scenarios)) {
  const peers = names.filter(isPeer).map((name) => figures[scenario][name]).filter((value) => typeof value === "number");
  const ours = figures[scenario].callgate;
  const ratio = peers.length === 0 || typeof ours !== "number" ? "" : (ours / Math.max(0.001, Math.min(...peers))).toFixed(2);
  lines.push(row(scenario, unit, ...names.map((name) => shown(figures[scenario][name])), ratio));
}
for (const one of missing) lines.push("", `Not measured: ${one}`);
const table = lines.join("\n");
console.log(table);
if (process.argv.includes("--write")) {
  const intro = "# Side by side\n\nCallgate beside other code-mode runtimes: one machine, one run, all take turns, each in a process of its own that may warm up\nfor two seconds. Smaller is better.";
  writeSection({ page: "side-by-side.md", intro, section: "Figures", text: `${measured(`node bench/side-by-side.mjs --rounds=${rounds}`)} Medians; ${cpus().length} cores.\n\n${table}` });
}
