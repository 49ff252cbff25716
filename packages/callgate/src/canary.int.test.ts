import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GateEvent } from "@callgate/contract";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate, createGateMetrics, defineTool, exportAudit } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "callgate-canary-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const random = (): string => randomBytes(15).toString("hex");

/** Each is planted in its own place, and is one that a person would call a secret or a person's. */
const canaries = {
  header: `hdr${random()}`,
  environment: `env${random()}`,
  bearer: `sk-${random()}`,
  password: `pw${random()}`,
  connection: `cs${random()}`,
  cookie: `ck${random()}`,
  github: `ghp_${random()}${random().slice(0, 6)}`,
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI${random()}.${random()}`,
  mail: `m${random()}@mail.example`,
  card: "4539578763621486",
  iban: "DE89370400440532013000",
  phone: "+4915123456789",
  declared: `decl${random()}`,
} as const;

const dsn = `postgres://app:${canaries.connection}@db.example/shop`;

function planted(): Record<string, unknown> {
  const { bearer, password, cookie, github, jwt, mail, card, iban, phone } = canaries;
  return {
    headers: { Authorization: `Bearer ${bearer}`, "Set-Cookie": `sid=${cookie}; Path=/` },
    password,
    text: `dsn ${dsn}, key ${github}, token ${jwt}, mail ${mail}, card ${card}, account ${iban}, phone ${phone}`,
    lines: [`Authorization: Bearer ${bearer}`, `Cookie: sid=${cookie}`, `password=${password}`, `https://api.example/?sig=${bearer}`],
  };
}

const anything = z.record(z.string(), z.unknown());
const said = (): string => Object.values(planted()).flat().map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join("; ").replace(canaries.password, `password=${canaries.password}`);

const tools = {
  echo: defineTool({ description: "Answers", effect: "read", input: anything, output: anything, sensitive: ["/input/code", "/output/code"], handler: (args, context) => {
    context.log.info(said(), { fields: said() });
    context.progress(said());
    return { ...planted(), code: args["code"], environment: process.env["CALLGATE_TEST_CANARY"], big: Array.from({ length: 9_000 }, () => said()) };
  } }),
  fail: defineTool({ description: "Fails", effect: "write", input: anything, sensitive: ["/input/code"], handler: (args) => {
    throw Object.assign(new Error(`upstream said: ${said()} ${String(args["code"])} ${process.env["CALLGATE_TEST_CANARY"] ?? ""}`), { cause: new Error(said()) });
  } }),
  ask: defineTool({ description: "Asks", effect: "write", input: anything, sensitive: ["/input/code"], handler: () => null }),
};

/** Bytes of every file below a folder, by path. */
function filesBelow(path: string): ReadonlyMap<string, Buffer> {
  return new Map(readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [[join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name))] as const] : [])));
}

/** As it is, in UTF-16, and in base64 at each of the places it can begin there. */
function formsOf(canary: string): readonly Buffer[] {
  const base64 = [0, 1, 2].map((offset) => Buffer.from("x".repeat(offset) + canary).toString("base64").slice(offset === 0 ? 0 : offset + 1, -4));
  return [Buffer.from(canary), Buffer.from(canary, "utf16le"), ...base64.map((text) => Buffer.from(text))];
}

function leaksIn(places: Iterable<readonly [string, Buffer | string]>): readonly string[] {
  const forms = Object.entries(canaries).map(([name, canary]) => [name, formsOf(canary)] as const);
  return [...places].flatMap(([place, content]) => {
    const bytes = Buffer.from(content as string);
    return forms.flatMap(([name, looked]) => {
      const at = looked.map((form) => bytes.indexOf(form)).find((index) => index >= 0);
      return at === undefined ? [] : [`${name} in ${place}: …${bytes.toString("latin1", Math.max(0, at - 30), at + 8)}…`];
    });
  });
}

test("br-030, br-021: canaries in arguments, results, errors, headers and the environment are in no file, event, metric, row, explanation or export", { timeout: 300_000 }, async () => {
  process.env["CALLGATE_TEST_CANARY"] = canaries.environment;
  process.env["CALLGATE_TEST_HEADER"] = canaries.header;
  const stateFolder = join(folder, "state");
  const faults: unknown[] = [];
  const gate = await createCallgate({
    stateFolder,
    tools: { t: Object.entries(tools).map(([name, tool]) => ({ ...tool, name })) },
    mcpServers: {
      down: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "env:CALLGATE_TEST_HEADER" } },
      broken: { command: process.execPath, args: ["-e", "console.error(process.env.KEY); process.exit(1)"], env: { KEY: "env:CALLGATE_TEST_CANARY" } },
    },
    rules: [{ ask: "t.ask" }, { allow: "t.*" }],
    approver: { ask: () => Promise.resolve({ kind: "denied", by: "carol", reason: said() }) },
    onFault: (fault) => void faults.push(fault),
  });
  const events: GateEvent[] = [];
  gate.onEvent((event) => void events.push(event));
  const metrics = await createGateMetrics(gate);
  await gate.ready();
  const args = JSON.stringify({ ...planted(), code: canaries.declared });
  const program = `import { t } from "tools"; const got = await t.echo(${args}); console.log(got.text, got); try { await t.fail(${args}) } catch (error) { console.error(error.message) } try { await t.ask(${args}) } catch (error) { console.error(error.message) } return got`;
  const outcomes = [await gate.run(program), await gate.run(`import { t } from "tools"; await t.fail(${args})`), await gate.run(`throw new Error(${JSON.stringify(said())})`), await gate.run(`const x: number = ${JSON.stringify(said())}; return x`)];
  expect(outcomes.map(({ status }) => status)).toEqual(["completed", "failed", "failed", "rejected"]);
  for (const name of ["t.echo", "t.fail", "t.ask", "t.none"]) await gate.call(name, JSON.parse(args));

  const rows: unknown[] = [];
  for await (const row of gate.audit.rows()) rows.push(row);
  expect(rows.length).toBeGreaterThanOrEqual(8);
  const exports: string[] = [];
  for (const format of ["jsonl", "csv", "otel"] as const) for await (const part of exportAudit(gate.audit.rows(), format)) exports.push(part);
  const explained = await Promise.all((await gate.runs.list()).map(({ runId }) => gate.runs.explain(runId)));
  const told: readonly (readonly [string, string])[] = [
    ...events.map((event) => [`event ${event.kind}`, JSON.stringify(event)] as const),
    ["audit rows", JSON.stringify(rows)],
    ["exports", exports.join("")],
    ["explanations", JSON.stringify(explained)],
    ["metrics", await metrics.text()],
    ["problems", gate.problems.join("\n")],
    ["faults", faults.map(String).join("\n")],
    // Not `excerpt`: the line of the program, for who wrote it.
    ["errors of runs", JSON.stringify(outcomes.slice(1, 3).map(({ error }) => [error?.code, error?.message, error?.details]))],
    ["errors of lists", JSON.stringify((await gate.runs.list()).map(({ error }) => error ?? null))],
  ];
  expect(leaksIn(told)).toEqual([]);
  // While it is open, the write-ahead log is there too.
  expect(leaksIn(filesBelow(stateFolder))).toEqual([]);
  await gate.close();
  const files = filesBelow(stateFolder);
  expect([...files.keys()].some((file) => file.includes("blobs"))).toBe(true);
  expect(leaksIn(files)).toEqual([]);
  // The test can fail: the same search finds what was planted where it is.
  expect(leaksIn([["the program", program]])).toHaveLength(Object.keys(canaries).length - 2);
});
