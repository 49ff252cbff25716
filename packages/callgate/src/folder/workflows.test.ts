import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate, Workflow } from "@callgate/contract";
import { checkWorkflow, makeWorkflow, nextVersion, readWorkflows, relockWorkflow, testWorkflow, wideningsBetween, writeWorkflow } from "@callgate/runtime/workflow";
import { defineTool } from "@callgate/runtime/source";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createCallgate } from "../create-callgate.ts";

interface Order {
  status: string;
  customer: string;
}

let orders: Record<string, Order> = {};
const mails: unknown[] = [];
const start = (): Record<string, Order> => ({ W1: { status: "pending", customer: "ada" }, W2: { status: "shipped", customer: "bea" } });

const shop = (version: "old" | "new" | "more" = "old") => [
  version === "more"
    ? defineTool({ name: "get", description: "Reads an order", effect: "read", input: z.object({ order_id: z.string(), brief: z.boolean().optional() }), output: z.object({ status: z.string(), customer: z.string(), carrier: z.string() }), handler: ({ order_id }) => ({ ...(orders[order_id] ?? { status: "none", customer: "" }), carrier: "" }) })
    : version === "old"
    ? defineTool({ name: "get", description: "Reads an order", effect: "read", input: z.object({ order_id: z.string() }), output: z.object({ status: z.string(), customer: z.string() }), handler: ({ order_id }) => orders[order_id] ?? { status: "none", customer: "" } })
    : defineTool({ name: "get", description: "Reads an order", effect: "read", input: z.object({ order_id: z.string() }), output: z.object({ state: z.string() }), handler: ({ order_id }) => ({ state: orders[order_id]?.status ?? "none" }) }),
  defineTool({ name: "cancel", description: "Cancels an order", effect: "write", input: z.object({ order_id: z.string(), reason: z.enum(["no longer needed", "ordered by mistake"]) }), output: z.object({ status: z.string() }), handler: ({ order_id }) => { const order = orders[order_id]; if (order !== undefined) order.status = "cancelled"; return { status: "cancelled" }; } }),
  defineTool({ name: "mail", description: "Sends a mail", effect: "write", input: z.object({ to: z.string(), text: z.string() }), output: z.object({ sent: z.boolean() }), handler: (mail) => { mails.push(mail); return { sent: true }; } }),
];

const program = `const order = await tools.shop.get({ order_id: "W1" });
if (order.status !== "pending") return { cancelled: false, was: order.status };
await tools.shop.cancel({ order_id: "W1", reason: "no longer needed" });
return { cancelled: true, was: order.status };
`;

describe("workflows", () => {
  const root = mkdtempSync(join(tmpdir(), "callgate-workflows-"));
  const folder = join(root, "workflows");
  const opened: Gate[] = [];
  async function open(version: "old" | "new" | "more" = "old", rules: readonly object[] = [{ allow: "*" }]): Promise<Gate> {
    const gate = await createCallgate({ stateFolder: join(root, "state"), tools: { shop: shop(version) }, rules: rules as never, workflowsFolder: folder });
    opened.push(gate);
    await gate.ready();
    return gate;
  }
  beforeAll(async () => {
    orders = start();
    const gate = await open();
    const { runId } = await gate.run(program);
    writeWorkflow(folder, await makeWorkflow(gate, { runId, name: "cancel_order", version: "1.0.0", description: "Cancels an order that is pending", fixed: ["reason"] }));
    await gate.close();
    orders = start();
  });
  afterEach(async () => {
    for (const gate of opened.splice(0)) await gate.close();
    orders = start();
    mails.length = 0;
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("a run becomes a typed tool: inputs, output, effect, capabilities, a test", () => {
    const { workflows, problems } = readWorkflows(folder);
    expect(problems).toEqual([]);
    expect(workflows).toMatchObject([{
      program: program.replaceAll('"W1"', "inputs.order_id"),
      manifest: {
        name: "cancel_order", version: "1.0.0", effect: "write",
        input: { properties: { order_id: { type: "string" } }, required: ["order_id"], additionalProperties: false },
        output: { properties: { cancelled: { type: "boolean" }, was: { type: "string" } } },
        tools: { "shop.get": { effect: "read", args: { properties: { order_id: { type: "string" } } } }, "shop.cancel": { effect: "write", args: { properties: { reason: { const: "no longer needed" } }, additionalProperties: false } } },
      },
      recordings: [{ inputs: { order_id: "W1" } }],
    }]);
  });

  test("it is found and called like any tool: from a program, directly, with other inputs", async () => {
    const gate = await open();
    expect((await gate.search("cancel a pending order")).map(({ name }) => name)).toContain("workflows.cancel_order");
    const result = await gate.run('const done = await tools.workflows.cancel_order({ order_id: "W1" }); return done.cancelled');
    expect(result).toMatchObject({ status: "completed", value: { value: true }, calls: [{ tool: "workflows.cancel_order", effectStatus: "done" }] });
    expect(orders["W1"]?.status).toBe("cancelled");
    const nested = (await gate.runs.list()).find(({ parent }) => parent?.runId === result.runId);
    expect(nested).toMatchObject({ status: "completed", callCount: 2, capabilities: { id: expect.stringMatching(/^workflow:cancel_order@1\.0\.0 sha256:/) as string } });
    expect(await gate.call("workflows.cancel_order", { order_id: "W2" })).toMatchObject({ outcome: { kind: "ok", value: { cancelled: false, was: "shipped" } } });
    expect(await gate.call("workflows.cancel_order", { order: "W2" })).toMatchObject({ outcome: { kind: "invalid_input" } });
  });

  test("a call of one that only read this time changed nothing, and says so where its output does not fit", async () => {
    const gate = await open();
    expect(await gate.call("workflows.cancel_order", { order_id: "W2" })).toMatchObject({ outcome: { kind: "ok", effectStatus: "none", value: { cancelled: false } } });
    expect(await gate.call("workflows.cancel_order", { order_id: "W1" })).toMatchObject({ outcome: { kind: "ok", effectStatus: "done" } });
    const file = join(folder, "cancel_order", "workflow.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace('"was": {', '"gone": {').replace('"was"', '"gone"'));
    const other = await open();
    writeFileSync(file, text);
    const { outcome } = await other.call("workflows.cancel_order", { order_id: "W2" });
    expect(outcome).toMatchObject({ kind: "invalid_output", effectStatus: "none" });
    expect(JSON.stringify(outcome)).not.toContain("took effect");
  });

  test("in a rehearsal one that writes is one write, and nothing of it runs; applied it is called", async () => {
    const gate = await open();
    const { plan } = await gate.run('return await tools.workflows.cancel_order({ order_id: "W1" });', { rehearse: true });
    expect(plan?.items).toMatchObject([{ tool: "workflows.cancel_order", args: { order_id: "W1" } }]);
    expect((await gate.runs.list({ limit: 2 })).map(({ kind }) => kind)).toEqual(["rehearsal", "rehearsal"]);
    expect(orders).toEqual(start());
    if (plan !== undefined) expect((await gate.apply(await gate.plans.approve(plan, { by: "bea" }))).status).toBe("completed");
    expect(orders["W1"]?.status).toBe("cancelled");
  });

  test("its calls are decided as those of its caller: that the workflow may be called allows none of them", async () => {
    const gate = await open("old", [{ allow: "workflows.*" }]);
    const { outcome } = await gate.call("workflows.cancel_order", { order_id: "W1" });
    expect(outcome).toMatchObject({ kind: "failed", effectStatus: "none", error: { code: "WORKFLOW_FAILED", message: expect.stringContaining("shop.cancel needs a person's approval") as string } });
    expect(orders["W1"]?.status).toBe("pending");
  });

  test("while a person is asked about a call in it, its caller is suspended; both go on once the answer is there", async () => {
    const gate = await createCallgate({ stateFolder: join(root, "state"), tools: { shop: shop() }, rules: [{ allow: "workflows.*" }], workflowsFolder: folder, approvals: "keep", suspendAfterMs: 100 });
    opened.push(gate);
    await gate.ready();
    const waiting = await gate.run('return await tools.workflows.cancel_order({ order_id: "W1" })');
    expect(waiting).toMatchObject({ status: "suspended", waits: [{ kind: "job" }] });
    expect(orders["W1"]?.status).toBe("pending");
    const [asked] = await gate.approvals.list();
    expect(asked?.question).toMatchObject({ tool: "shop.cancel" });
    await gate.approvals.answer(asked?.question.approvalId ?? "", { approved: true, by: "bea" });
    const done = await gate.runs.resume(waiting.runId, { suspendAfterMs: Infinity });
    expect(done).toMatchObject({ status: "completed", value: { value: { cancelled: true, was: "pending" } }, calls: [{ effectStatus: "done" }] });
    expect(orders["W1"]?.status).toBe("cancelled");
  });

  test("what it read counts for its caller", async () => {
    const labelled = defineTool({ name: "inbox", description: "Reads mail from strangers", effect: "read", labels: ["untrusted", "private"], input: z.object({}), output: z.string(), handler: () => "hello" });
    const out = defineTool({ name: "post", description: "Posts outside", effect: "read", labels: ["external"], input: z.object({ text: z.string() }), handler: () => "posted" });
    const gate = await createCallgate({ stateFolder: join(root, "state"), tools: { box: [labelled, out] }, workflowsFolder: join(root, "boxes") });
    const { runId } = await gate.run("return await tools.box.inbox({})");
    writeWorkflow(join(root, "boxes"), await makeWorkflow(gate, { runId, name: "read_box", version: "1.0.0", description: "Reads the box" }));
    await gate.close();
    const again = await createCallgate({ stateFolder: join(root, "state"), tools: { box: [labelled, out] }, workflowsFolder: join(root, "boxes") });
    opened.push(again);
    await again.ready();
    const result = await again.run('const mail = await tools.workflows.read_box({}); return await tools.box.post({ text: mail })');
    expect(result.error).toMatchObject({ code: "APPROVAL_UNAVAILABLE", details: { ruleId: "default:outflow" } });
    expect((await again.run('return await tools.box.post({ text: "x" })')).status).toBe("completed");
  });

  test("a call outside of its capabilities is denied though the policy allows it", async () => {
    const gate = await open();
    const capabilities = { id: "workflow:test", tools: { "shop.cancel": { type: "object", properties: { order_id: { const: "W1" }, reason: { type: "string" } }, additionalProperties: false } } } as const;
    const other = await gate.run('return await tools.shop.mail({ to: "x", text: "y" })', { capabilities });
    expect(other.error).toMatchObject({ code: "DENIED", message: expect.stringContaining("not among the tools") as string });
    const shape = await gate.run('return await tools.shop.cancel({ order_id: "W2", reason: "no longer needed" })', { capabilities });
    expect(shape.error).toMatchObject({ code: "DENIED", details: { ruleId: "workflow:test" } });
    expect((await gate.run('return await tools.shop.cancel({ order_id: "W1", reason: "no longer needed" })', { capabilities })).status).toBe("completed");
    expect([mails, orders["W2"]?.status]).toEqual([[], "shipped"]);
  });

  test("its tests run with recorded answers, and fail when it does something else", async () => {
    const gate = await open();
    const [workflow] = readWorkflows(folder).workflows;
    if (workflow === undefined) throw new Error("no workflow");
    expect(await testWorkflow(gate, workflow)).toMatchObject([{ passed: true }]);
    const changed = await testWorkflow(gate, { ...workflow, program: workflow.program.replace("no longer needed", "ordered by mistake") });
    expect(changed).toMatchObject([{ passed: false, failures: [expect.stringContaining("it calls shop.cancel"), expect.stringContaining("does not call shop.cancel")] }]);
    expect((await testWorkflow(gate, { ...workflow, program: workflow.program.replace("cancelled: true", "cancelled: false") }))[0]?.failures[0]).toContain("it returns");
    expect(orders["W1"]?.status).toBe("pending");
  });

  test("a changed tool breaks it: told as types by the check, among the problems, and by the call, before anything runs", async () => {
    const gate = await open("new");
    const [workflow] = readWorkflows(folder).workflows;
    if (workflow === undefined) throw new Error("no workflow");
    const findings = await checkWorkflow(gate, workflow);
    expect(findings).toEqual(expect.arrayContaining([expect.objectContaining({ severity: "changed", tool: "shop.get" }), expect.objectContaining({ severity: "broken", message: expect.stringMatching(/line 2: There is no field status on order.*\{ state: string; \}/s) as string })]));
    const { outcome } = await gate.call("workflows.cancel_order", { order_id: "W1" });
    expect(outcome).toMatchObject({ effectStatus: "none", error: { code: "WORKFLOW_BROKEN", message: expect.stringContaining("nothing of it ran") as string } });
    await expect.poll(() => gate.problems.some((problem) => problem.includes("cancel_order") && problem.includes("broken")), { timeout: 30_000 }).toBe(true);
    expect(orders["W1"]?.status).toBe("pending");
  });

  test("a break is told once: what the types say is not said again of what was recorded", async () => {
    const keep = (key: string) => [defineTool({ name: "add", description: "Keeps a note", effect: "write", input: z.object({ [key]: z.string().max(key === "title" ? 100 : 200) }), output: z.object({ kept: z.string() }), handler: () => ({ kept: "x" }) })];
    const opening = async (tools: ReturnType<typeof keep>) => { const gate = await createCallgate({ stateFolder: join(root, "notes-state"), tools: { notes: tools }, rules: [{ allow: "*" }] }); opened.push(gate); return gate; };
    const before = await opening(keep("title"));
    const { runId } = await before.run('const { kept } = await tools.notes.add({ title: "first" }); return kept');
    const workflow: Workflow = { ...(await makeWorkflow(before, { runId, name: "keep", version: "1.0.0", description: "Keeps a note" })), digest: "sha256:00" };
    const broken = (await checkWorkflow(await opening(keep("heading")), workflow)).filter(({ severity }) => severity === "broken").map(({ message }) => message);
    expect(broken).toEqual([expect.stringContaining("notes.add takes no title; did you mean heading?")]);
    const stricter = [defineTool({ name: "add", description: "Keeps a note", effect: "write", input: z.object({ title: z.string().max(2) }), output: z.object({ kept: z.string() }), handler: () => ({ kept: "x" }) })];
    // What no type says is told by the recording.
    const refused = (await checkWorkflow(await opening(stricter), workflow)).filter(({ severity }) => severity === "broken").map(({ message }) => message);
    expect(refused).toEqual([expect.stringMatching(/notes\.add would refuse what the workflow gave it when it was recorded \(.*title/)]);
  });

  test("one that fits a changed tool is locked on it as its next version; one that does not is left as it was, with the reason", async () => {
    const gate = await open("more");
    const [workflow] = readWorkflows(folder).workflows;
    if (workflow === undefined) throw new Error("no workflow");
    expect(await checkWorkflow(gate, workflow)).toEqual(expect.arrayContaining([expect.objectContaining({ severity: "changed", tool: "shop.get" })]));
    const made = await relockWorkflow(gate, workflow);
    if (made.kind !== "relocked") throw new Error(JSON.stringify(made));
    expect(made.workflow.manifest).toMatchObject({ version: "1.0.1", input: workflow.manifest.input, tools: { "shop.get": { args: workflow.manifest.tools["shop.get"]?.args } } });
    const relocked = { ...workflow, ...made.workflow };
    expect(await checkWorkflow(gate, relocked)).toEqual([]);
    expect(await relockWorkflow(gate, relocked)).toEqual({ kind: "unchanged" });
    const changed = await open("new");
    expect(await relockWorkflow(changed, workflow)).toMatchObject({ kind: "refused", findings: expect.arrayContaining([expect.objectContaining({ severity: "broken", message: expect.stringMatching(/no field status/) as string })]) as unknown[] });
    expect(await relockWorkflow(gate, { ...workflow, program: workflow.program.replace("cancelled: true", "cancelled: false") })).toMatchObject({ kind: "refused", findings: [{ message: expect.stringContaining("it returns") as string }] });
  });

  test("saved again it takes what each of its recordings returned and gave, keeps what a person wrote, and says what is wider", async () => {
    const again = join(root, "again");
    const branches = 'const id = "W1"; const order = await tools.shop.get({ order_id: id }); if (order.status !== "pending") { const { status } = await tools.shop.cancel({ order_id: id, reason: "ordered by mistake" }); return { cancelled: true, as: status }; } await tools.shop.mail({ to: "desk", text: "pending" }); return { cancelled: false, left: 1 };';
    const gate = await open();
    const read = () => { const [one] = readWorkflows(again).workflows; if (one === undefined) throw new Error("no workflow"); return one; };
    const save = async (program: string, fixed?: readonly string[]) => {
      const { runId } = await gate.run(program);
      const [before] = readWorkflows(again).workflows;
      writeWorkflow(again, await makeWorkflow(gate, { runId, name: "one", version: "1.0.0", description: "x", ...(fixed === undefined ? {} : { fixed }), ...(before === undefined ? {} : { before }) }));
      return read().manifest;
    };
    const first = await save(branches, ["to", "text"]);
    expect(first.input).toMatchObject({ required: ["id"] });
    // A person's words: what it takes, returns and may be given.
    const get = first.tools["shop.get"];
    if (get === undefined) throw new Error("no tool");
    const edited = { ...first, deprecated: "use two", input: { type: "object", properties: { id: { type: "string", description: "of an order" } }, required: ["id"], additionalProperties: false }, output: { ...(first.output as object), description: "what became of it" }, tools: { ...first.tools, "shop.get": { ...get, args: { type: "object", properties: { order_id: { type: "string", maxLength: 2 } }, required: ["order_id"], additionalProperties: false } } } } as const;
    writeWorkflow(again, { ...read(), manifest: edited });
    const second = await save(branches.replace('"W1"', '"W2"'));
    expect(second).toMatchObject({ deprecated: "use two", input: edited.input, output: { description: "what became of it", required: ["cancelled"], properties: { left: { type: "integer" }, as: { type: "string" } } } });
    expect(second.tools["shop.get"]?.args).toEqual(edited.tools["shop.get"].args);
    expect(second.tools["shop.mail"]).toEqual(first.tools["shop.mail"]);
    expect(second.tools["shop.mail"]?.args).toMatchObject({ properties: { to: { const: "desk" }, text: { const: "pending" } } });
    expect(second.tools["shop.cancel"]?.args).toMatchObject({ properties: { reason: { const: "ordered by mistake" } } });
    const said = wideningsBetween(edited, second);
    expect(said).toEqual([expect.stringContaining("its output was"), expect.stringContaining("shop.cancel")]);
    expect(await testWorkflow(gate, read())).toMatchObject([{ passed: true }, { passed: true }]);
    expect(await testWorkflow(gate, { ...read(), manifest: { ...second, output: first.output } })).toMatchObject(expect.arrayContaining([{ passed: false, failures: [expect.stringContaining("its output schema refuses what it returns")] }].map((one) => expect.objectContaining(one) as unknown)));
    // A literal that is another now is another constant; one that became an input is none.
    const third = await save(branches.replace("desk", "post").replace('"pending" }', "id }"), ["to"]);
    expect(third.tools["shop.mail"]?.args).toMatchObject({ properties: { to: { const: "post" }, text: { type: "string" } } });
  });

  test("versions follow what changes for callers", async () => {
    const [workflow] = readWorkflows(folder).workflows;
    if (workflow === undefined) throw new Error("no workflow");
    const before = workflow.manifest;
    expect(nextVersion(before, before, undefined)).toBe("1.0.1");
    const more = { ...before, input: { type: "object", properties: { order_id: { type: "string" }, note: { type: "string" } }, required: ["order_id"], additionalProperties: false } } as const;
    expect(nextVersion(before, more, undefined)).toBe("1.1.0");
    expect(nextVersion(more, before, undefined)).toBe("2.0.0");
    expect(() => nextVersion(more, before, "1.1.1")).toThrow("major change");
    expect(() => nextVersion(before, before, "1.0.0")).toThrow("not above");
  });

  test("a wrong file is told and the others work; what did not complete cannot be saved", async () => {
    const gate = await open();
    const failed = await gate.run('throw new Error("x")');
    for (const name of ["cancel-order", "../elsewhere", "9lives", "Cancel", ""]) await expect(makeWorkflow(gate, { runId: failed.runId, name, version: "1.0.0", description: "x" })).rejects.toMatchObject({ code: "WORKFLOW_INVALID", message: expect.stringContaining("the name of a workflow") as string });
    await expect(makeWorkflow(gate, { runId: failed.runId, name: "x", version: "1.0.0", description: "x" })).rejects.toMatchObject({ code: "WORKFLOW_INVALID" });
    const secret = await gate.run('const to = "ada@example.com"; await tools.shop.mail({ to: to + "", text: "hi" }); return 1');
    await expect(makeWorkflow(gate, { runId: secret.runId, name: "x", version: "1.0.0", description: "x", fixed: ["to"] })).rejects.toMatchObject({ code: "WORKFLOW_INVALID", message: expect.stringContaining("sensitive value") as string });
    const file = join(folder, "cancel_order", "workflow.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace('"1.0.0"', '"one"'));
    expect(readWorkflows(folder)).toMatchObject({ workflows: [], problems: [{ name: "cancel_order", message: expect.stringContaining("version is no semantic version") as string }] });
    writeFileSync(file, text);
  });
});
