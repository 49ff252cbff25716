// The main job on real input, without a key and without a service: `npm run demo`. It checks its own end state.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createCallgate } from "callgate";
import type { Gate, GateEvent, RunResult } from "callgate";
import { printRunMeter } from "../shared/meter.ts";
import { crmTools, openCrm } from "./crm-tools.ts";
import { ticketTools } from "./ticket-tools.ts";
import type { Ticket } from "./ticket-tools.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const fileServer = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
const database = openCrm();
const opened: Ticket[] = [];
const stateFolder = mkdtempSync(join(tmpdir(), "callgate-demo-"));

const gate = await createCallgate({
  stateFolder,
  mcpServers: {
    documents: {
      command: process.execPath,
      args: [fileServer, join(here, "documents")],
      purpose: "meeting minutes and their attachments",
      // What this server says of its own tools counts only because we say so.
      trusted: true,
    },
  },
  tools: { crm: crmTools(database), tickets: ticketTools(opened) },
  rules: [{ allow: "crm.update_opportunity" }, { allow: "tickets.open_ticket" }],
});

try {
  await gate.ready();
  console.log(`${gate.tools().length} tools: ${gate.namespaces().map((view) => `${view.namespace} (${view.toolCount})`).join(", ")}\n`);

  const main = await show(gate, "1 · Minutes into CRM and tickets", "minutes-to-crm.ts");
  assert.equal(main.status, "completed");
  assert.equal(opened.length, 3);
  const rollout = database.prepare("SELECT stage, amount_eur, close_date FROM opportunity WHERE id = 'opp-302'").get();
  assert.deepEqual({ ...rollout }, { stage: "proposal", amount_eur: 625949, close_date: "2026-12-18" });
  await printRunMeter(gate, main);

  const misspelt = await show(gate, "2 · A misspelt field: found before anything runs", "misspelt-field.ts");
  assert.equal(misspelt.status, "rejected");
  assert.equal(misspelt.calls.length, 0);

  const endless = await show(gate, "3 · An endless loop: ended at its limit", "endless.ts");
  assert.equal(endless.status, "limit");
  console.log("\nEnd state checked: 1 opportunity moved, 1 dropped, 3 tickets opened, nothing else changed.");
} finally {
  await gate.close();
  rmSync(stateFolder, { recursive: true, force: true });
}

async function show(target: Gate, title: string, file: string): Promise<RunResult> {
  console.log(`── ${title}\n`);
  const program = readFileSync(join(here, "programs", file), "utf8");
  const stop = target.onEvent((event) => printEvent(event));
  const result = await target.run(program, { limits: { cpuMs: 500 } });
  stop();
  for (const diagnostic of result.diagnostics) {
    if (diagnostic.severity === "advice") continue;
    console.log(`  ${diagnostic.severity} ${diagnostic.line}:${diagnostic.column} ${diagnostic.message}`);
    if (diagnostic.excerpt !== undefined) console.log(`    ${diagnostic.line} │ ${diagnostic.excerpt}`);
  }
  if (result.value?.kind === "whole") console.log(`\n${JSON.stringify(result.value.value, undefined, 2)}\n`);
  if (result.error !== undefined) console.log(`  ${result.status}: ${result.error.message}\n`);
  return result;
}

function printEvent(event: GateEvent): void {
  if (event.kind === "run-checked") console.log(`  check  ${event.ok ? "passed" : "rejected"} in ${event.durationMs.toFixed(0)} ms`);
  if (event.kind === "call-ended") {
    const changed = event.effectStatus === "done" ? ", changed" : "";
    console.log(`  call   ${event.tool} ${event.outcome}${changed} ${event.durationMs.toFixed(1)} ms`);
  }
}
