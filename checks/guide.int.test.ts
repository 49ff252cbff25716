// Guards the guides: what they show is tried. TypeScript is type-checked against the packages as a reader would import
// them, configurations and rules are read by the real readers, and the commands of the first page are run as a newcomer
// runs them. What an example takes for given (a gate, a handle) stands in `given` below.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createCedarPolicy } from "@callgate/policy-cedar";
import type { PolicyRule } from "@callgate/policy-cedar";
import { isWholeRun } from "@callgate/testkit";
import ts from "typescript";
import { describe, expect, onTestFinished, test } from "vitest";
import { configSchema } from "../packages/callgate/src/config/config-schema.ts";

interface Fence {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const files = [...readdirSync("docs/guide").map((name) => `docs/guide/${name}`), ...readdirSync("packages").map((name) => `packages/${name}/README.md`)];
const fences = files.flatMap((file) => fencesOf(file, readFileSync(file, "utf8")));
const of = (...languages: readonly string[]) => fences.filter(({ language }) => languages.includes(language)).map((fence) => [`${fence.file}:${fence.line}`, fence] as const);

function fencesOf(file: string, text: string): readonly Fence[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({ file, line: text.slice(0, match.index).split("\n").length, language: match[1] ?? "", text: match[2] ?? "" }));
}

const given = `
import type { GuestHost, GuestJob, SandboxDriver } from "@callgate/contract";
import type { LaunchedGuest, LaunchSpec } from "@callgate/sandbox-process";
import type { Agent, AgentOptions, Gate as GivenGate, Handle, Source as GivenSource, Tool, ToolError as GivenError } from "callgate";
declare global {
  const gate: GivenGate; const runId: string; const handle: Handle; const program: string; const programFromTheModel: string;
  const agent: Agent; const model: AgentOptions["model"]; const store: { put(text: string): Promise<void>; get(): Promise<string> };
  const getCustomer: Tool; const updateCustomer: Tool; const ToolError: typeof GivenError;
  function startSomewhere(spec: LaunchSpec): LaunchedGuest;
  function startMyService(): Promise<{ readonly url: string; start(): Promise<void>; stop(): Promise<void> }>; function createMySource(options: { readonly url: string }): GivenSource;
  const driver: SandboxDriver & Required<Pick<SandboxDriver, "openSession">>; const job: GuestJob; const host: GuestHost;
  // What a program has of itself, for examples that are programs.
  function sleep(until: number | Date): Promise<void>; function waitFor(event: string, options?: { timeoutMs?: number }): Promise<unknown>;
  const tools: { ci: { build(input: { ref: string }): Promise<unknown> }; bank: { pay(input: { amount: number }): Promise<unknown> };
    shop: { list_orders: { pages(input: { status: "open" }): AsyncIterable<readonly { total: number }[]> } };
    billing: { charge(input: { api_key: string; amount_cents: number }): Promise<unknown> } };
}
`;
const givenModules = `
declare module "tools" {
  export const documents: typeof import("tools/documents"); export const crm: { find(input: { name: string }): Promise<unknown> };
  export const shop: typeof import("tools/shop");
  export const handbook: { search(input: { query: string; limit?: number; path?: string }): Promise<{ passages: { document: string; heading?: string; passage: string; offset: number }[] }>;
    read(input: { document: string; offset?: number; limit?: number }): Promise<{ text: string; next_offset: number | null }> };
  export const github: { repository(input: { owner: string; name: string; select: string }): Promise<{ issues: unknown } | null>;
    issues_list_for_repo: { pages(input: { owner: string; repo: string; state: "open" }): AsyncIterable<readonly { number: number; title: string; comments: number }[]> } };
  export function search(query: string, options?: { limit?: number; namespace?: string; detail?: "name" | "line" | "signature" | "full" }): Promise<unknown>; export function describe(names: readonly string[]): Promise<unknown>;
  export function sleep(until: number | Date): Promise<void>; export function waitFor(event: string, options?: { timeoutMs?: number }): Promise<unknown>;
}
declare module "tools/shop" {
  type Page<Row> = { page: Row[]; next?: { cursor: string } };
  export const find_orders: { (input?: Find): Promise<Page<{ id: number; cents: number }>>; pages(input?: Find): AsyncIterable<readonly { id: number; cents: number }[]> };
  type Find = { where?: object; orderBy?: { column: "cents"; direction?: "asc" | "desc" }[]; limit?: number; cursor?: string | null };
  export function update_orders(input: { where: object; set: object }): Promise<{ changed: number }>;
  export function query(input: { sql: string; params?: unknown[] | Record<string, unknown> }): Promise<Page<Record<string, unknown>>>;
}
declare module "tools/documents" { export function get_document(input: { id: string }): Promise<DocumentLine>; export type DocumentLine = { id: string } }
`;

/** A file that the guide tells its reader to write. */
const givenDriver = `
import type { SandboxDriver } from "@callgate/contract";
export declare const createDriver: () => SandboxDriver;
`;

/** Names that examples import or declare only to show how are used nowhere, and one example may repeat another's. */
const shownOnly = new Set([6133, 6192, 6196, 2300]);

/** What a strict compiler says of each text, as if it were a file of a project that has the packages. */
function problemsIn(texts: readonly string[]): readonly (readonly string[])[] {
  const folder = resolve("packages/callgate/.guide");
  const names = texts.map((text, index) => join(folder, text.startsWith("declare module") ? `shown-${index}.d.ts` : `shown-${index}.ts`));
  const sources = new Map([[join(folder, "given.ts"), given], [join(folder, "modules.d.ts"), givenModules], [join(folder, "my-driver.ts"), givenDriver], ...names.map((name, index) => [name, name.endsWith(".d.ts") ? (texts[index] ?? "") : `${texts[index]}\nexport {};`] as const)]);
  const options: ts.CompilerOptions = { strict: true, noEmit: true, target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, allowImportingTsExtensions: true, skipLibCheck: true, types: ["node"], lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"] };
  const host = ts.createCompilerHost(options);
  const real = ts.createCompilerHost(options);
  host.fileExists = (name) => sources.has(name) || real.fileExists(name);
  host.directoryExists = (name) => name === folder || (real.directoryExists?.(name) ?? false);
  host.readFile = (name) => sources.get(name) ?? real.readFile(name);
  host.getSourceFile = (name, target) => {
    const text = sources.get(name);
    return text === undefined ? real.getSourceFile(name, target) : ts.createSourceFile(name, text, target, true);
  };
  const compiled = ts.createProgram([...sources.keys()], options, host);
  const said = (name: string) => {
    const file = compiled.getSourceFile(name);
    const found = file === undefined ? [] : [...compiled.getSyntacticDiagnostics(file), ...compiled.getSemanticDiagnostics(file)];
    return found.filter(({ code }) => !shownOnly.has(code)).map(({ start = 0, messageText }) => `${(file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
  };
  return names.map(said);
}

describe("docs/guide and the packages' READMEs", { timeout: 120_000 }, () => {
  test("show something", () => expect(fences.length).toBeGreaterThan(20));

  test("their TypeScript compiles, and an example that is wrong is seen", () => {
    const shown = of("ts");
    const said = [...problemsIn([...shown.map(([, { text }]) => text), "const { stauts } = await gate.run(program);"])];
    expect(said.pop()).toEqual([expect.stringContaining("stauts")]);
    expect(shown.map(([place], index) => [place, said[index]]).filter(([, problems]) => problems?.length !== 0)).toEqual([]);
  });

  test.each(of("json", "jsonc"))("%s is read by the real reader", (_place, { text }) => {
    const errors: ts.Diagnostic[] = [];
    const value: unknown = ts.convertToObject(ts.parseJsonText("shown.json", text), errors);
    expect(errors.map(({ messageText }) => messageText)).toEqual([]);
    if (Array.isArray(value)) expect(() => createCedarPolicy({ rules: value as PolicyRule[] })).not.toThrow();
    else if (typeof value === "object" && value !== null && ["mcpServers", "rules", "sql", "openapi", "graphql", "documents", "searchApis"].some((key) => key in value)) expect(configSchema.safeParse(value).error).toBeUndefined();
  });

  test.each(of("sh").filter(([, { text }]) => text.includes("callgate init")))("%s does what it says in an empty folder", (_place, { text }) => {
    const home = mkdtempSync(join(tmpdir(), "callgate-newcomer-"));
    const env = { PATH: `${resolve("node_modules/.bin")}:${process.env["PATH"] ?? ""}`, HOME: home };
    const { status, stdout } = spawnSync("bash", ["-e", "-c", text], { cwd: home, env, encoding: "utf8" });
    expect(status).toBe(0);
    expect(stdout).toContain("notes.get");
    expect(stdout).toContain('"text": "Programs import tools; every call passes one gate"');
  });

  // Some twenty commands one after the other, each of which has a test of its own.
  test.skipIf(!isWholeRun)("plan-undo-keep.md does what it says, step by step, in an empty folder (whole runs only)", { timeout: 600_000 }, () => {
    const home = mkdtempSync(join(tmpdir(), "callgate-newcomer-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const env = { PATH: `${resolve("node_modules/.bin")}:${process.env["PATH"] ?? ""}`, HOME: home, NO_COLOR: "1" };
    const steps = of("sh").filter(([, { file }]) => file.endsWith("/plan-undo-keep.md")).map(([, { text }], index) => `echo "== ${index}"\n${text}`);
    const { stdout } = spawnSync("bash", ["-c", steps.join("\n")], { cwd: home, env, encoding: "utf8" });
    const [, shop = "", review = "", applied = "", undone = "", saved = "", kept = ""] = stdout.split(/== \d+\n/);
    expect(shop).toContain("is trusted");
    expect(review).toMatch(/1 shop\.cancel changes data[^]*\/id is from shop\.list[^]*2 shop\.cancel[^]*Nobody has approved it[^]*"o-17": "open", "o-18": "open"/);
    expect(applied).toMatch(/→ edited by \S+ to \{"id":"o-17","reason":"We are sorry"\}[^]*approved by[^]*"o-17":"cancelled","o-18":"cancelled"/);
    expect(undone).toMatch(/Undone, last first:[^]*"o-17":"open","o-18":"open"[^]*what shop\.cancel did in call 2 was undone/);
    expect(saved).toContain("workflows/cancel_first holds workflows.cancel_first 1.0.0");
    expect(kept).toMatch(/"cancelled": ?true[^]*1 of 1 test passed; nothing was called[^]*1 workflow fits its tools[^]*"o-17":"cancelled","o-18":"cancelled"/);
  });
});
